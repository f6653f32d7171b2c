// The table of earlier runs: a row that is clicked, or opened by its button, is chosen in the list
// of ipywidgets beside it, which is hidden. Times are written as the person's own clock has them.

const TABLE = "[data-toolbench-runs]";
const ROW = "[data-toolbench-run]";
const known = new WeakSet<Element>();

export function enhanceRuns(): void {
  for (const table of document.querySelectorAll<HTMLTableElement>(TABLE)) {
    if (known.has(table)) continue;
    known.add(table);
    const rows = [...table.querySelectorAll<HTMLTableRowElement>(ROW)];
    rows.forEach((row) => enhance(row, rows));
    mark(rows, rows[0]); // the newest is open
  }
}

function enhance(row: HTMLTableRowElement, rows: HTMLTableRowElement[]): void {
  const time = row.querySelector("time");
  if (!time) return;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "toolbench-open";
  time.textContent = localTime(time.dateTime) ?? time.textContent;
  time.replaceWith(button);
  button.append(time);
  row.addEventListener("click", () => {
    choose(row);
    mark(rows, row);
  });
}

function choose(row: HTMLTableRowElement): void {
  const list = row.closest(".toolbench-runs")?.querySelector("select");
  if (!list) return;
  list.selectedIndex = Number(row.dataset.toolbenchRun);
  list.dispatchEvent(new Event("change", { bubbles: true }));
}

function mark(rows: HTMLTableRowElement[], chosen?: HTMLTableRowElement): void {
  for (const row of rows) {
    const isChosen = row === chosen;
    row.classList.toggle("toolbench-chosen", isChosen);
    row.querySelector("button")?.setAttribute("aria-expanded", String(isChosen));
  }
}

/** The time of *stamp*, with the day before it unless that is today. */
function localTime(stamp: string): string | null {
  const moment = new Date(stamp);
  if (Number.isNaN(moment.getTime())) return null;
  const isToday = moment.toDateString() === new Date().toDateString();
  return isToday ? moment.toLocaleTimeString() : moment.toLocaleString();
}
