// The numbers in cells, by which rows are sorted and filtered.

const TIME = /^(?:([\d,]+) min )?([\d.]+) (ms|s)$/;

/** The number that *text* writes; of a time, such as "6.6 ms" or "3 min 5 s", its seconds. */
export function numberOf(text: string): number {
  const [, minutes = "0", rest, unit] = TIME.exec(text) ?? [];
  if (unit === undefined) return Number(text);
  const seconds = Number(rest) * (unit === "ms" ? 0.001 : 1);
  return 60 * Number(minutes.replaceAll(",", "")) + seconds;
}
