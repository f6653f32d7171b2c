// Numbers, lengths of time and times of the day in words, as `toolbench/wording.py` writes them.

/** *seconds* in words: `6.6 ms`, `38 ms`, `1.2 s`, `42 s`, `3 min 5 s`. */
export function took(seconds: number): string {
  if (seconds >= 0.00005 && seconds < 0.00995) return `${(1000 * seconds).toFixed(1)} ms`;
  if (seconds < 0.9995) return `${(1000 * seconds).toFixed(0)} ms`;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : `${number(Math.floor(whole / 60))} min ${whole % 60} s`;
}

/** *count* with commas between thousands. */
export function number(count: number): string {
  return count.toLocaleString("en-US");
}

const CLOCK: Intl.DateTimeFormatOptions = { hourCycle: "h23", hour: "2-digit", minute: "2-digit" };
const MINUTES = new Intl.DateTimeFormat([], CLOCK);
const CLOCKS = [undefined, 1, 2, 3].map(
  (digits) => new Intl.DateTimeFormat([], { ...CLOCK, second: "2-digit", fractionalSecondDigits: digits as 1 | undefined }),
);

/** The local time of *seconds*, with so many *decimals* of a second, at most 3; -1: without seconds. */
export function clock(seconds: number, decimals: number): string {
  return (CLOCKS[decimals] ?? MINUTES).format(1000 * seconds + 1e-4); // not 2.9999 for 3
}
