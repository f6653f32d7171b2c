// The rows of a report that open: a click on one is sent to the widget that shows the report. Without a
// kernel they are rows like all others. Which row is open stands in the page: the module of one kernel of
// the page draws all tables, and that of the report's own kernel sends the click.

import { tell, type View } from "./connection";

const OPENS = ".widget-html [data-toolbench-opens]"; // around a table whose rows open
const ROW = `${OPENS} tbody tr:not([aria-hidden])`;
const OTHER = "button:not(.toolbench-open), a, summary, input"; // it does something else

/** Whether the rows of *table* open. */
export function opensRows(table: Element): boolean {
  return table.closest(OPENS) !== null;
}

/** Make the label of *row* of *table* the button by which keys open the row. */
export function addOpener(row: HTMLTableRowElement, table: HTMLTableElement): void {
  const [first] = row.cells;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "toolbench-open";
  button.textContent = first?.textContent ?? "";
  button.setAttribute("aria-label", `Open ${button.textContent}`);
  first?.replaceChildren(button);
  mark(row, table);
}

/** The row that a click on *target* opens; null if it opens none. */
export function openedRow(target: HTMLElement | null): HTMLTableRowElement | null {
  const row = target?.closest<HTMLTableRowElement>(ROW) ?? null;
  const isReading = getSelection()?.isCollapsed === false; // text was selected, for which a click ends too
  return isReading || target?.closest(OTHER) ? null : row;
}

/** Send the label of *row* to the widget of the view, and mark the row. */
export function openRow(row: HTMLTableRowElement, { model }: View): void {
  const label = row.cells[0]?.textContent ?? "";
  const table = row.closest("table");
  if (table) {
    table.dataset.toolbenchOpened = label;
    for (const other of table.tBodies[0]?.rows ?? []) mark(other, table);
  }
  tell(model, { picked: label });
}

function mark(row: HTMLTableRowElement, table: HTMLTableElement): void {
  const isOpened = row.cells[0]?.textContent === table.dataset.toolbenchOpened;
  row.classList.toggle("toolbench-chosen", isOpened);
  if (isOpened) row.setAttribute("aria-current", "true");
  else row.removeAttribute("aria-current");
}
