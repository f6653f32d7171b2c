// A chosen file goes to the kernel in pieces, after its name and size. ipywidgets sends a file in one
// message: a server takes 10 MB by default, and ends the connection of the page if there are more.
// The kernel says which piece comes next, so a lost one is sent again.

import type { Models, View } from "./connection";
import { ask, newId } from "./exchange";
import { say, sayNothing } from "./notices";
import { allIn, ourTarget } from "./ours";

/** What is used here of a button of ipywidgets to choose a file. */
type Button = Pick<View, "el" | "model">;

/** The answer of the kernel: which piece it wants, or that it wants no more. */
interface Reply {
  file: string;
  piece?: [begin: number, end: number];
}

const UPLOAD = ".tb-form .widget-upload";
const ZONE = ".tb-file";
const OVER = "tb-over"; // the field over which a file is held
const COUNT = / \(\d+\)$/; // ipywidgets counts the files that it holds: our field holds the file itself

/** Take the count of files off the buttons in *root*. */
export function nameUploads(root: ParentNode): void {
  for (const button of allIn(root, UPLOAD)) {
    const text = button.lastChild;
    if (text instanceof Text && COUNT.test(text.data)) text.data = text.data.replace(COUNT, "");
  }
}

/** Let the person choose a file, and send it to the kernel behind *kernel*. */
export function chooseFile(button: Button, kernel: Models): void {
  const input = document.createElement("input");
  input.type = "file";
  input.accept = String(button.model.get("accept") ?? "");
  input.addEventListener("change", () => {
    const file = input.files?.[0];
    if (file) void sendFile(file, button, kernel);
  });
  input.click();
}

/** Let the field of a file under *event* take what is dropped there, and look so. */
export function holdFile(event: DragEvent): void {
  const zone = zoneAt(event);
  for (const other of document.querySelectorAll(`.${OVER}`)) other.classList.remove(OVER);
  zone?.classList.add(OVER);
  if (zone) event.preventDefault();
}

/** The file that *event* drops on a field, and the button of this field. */
export function dropFile(event: DragEvent): { button?: Element | null; file?: File } {
  const zone = zoneAt(event);
  const files = event.dataTransfer?.files;
  if (!zone || !files) return {};
  event.preventDefault();
  zone.classList.remove(OVER);
  const button = zone.querySelector(UPLOAD);
  if (button && files.length > 1) say(button, `This field takes one file: drop one of the ${files.length}.`);
  return files.length === 1 ? { button, file: files[0] } : {};
}

function zoneAt(event: DragEvent): Element | null {
  if (!event.dataTransfer?.types.includes("Files")) return null;
  return ourTarget(event)?.closest(ZONE) ?? null;
}

/** Send *file* to the kernel behind *kernel*; the field of *button* takes it. */
export async function sendFile(file: File, button: Button, kernel: Models): Promise<void> {
  const id = newId();
  const isReply = (news: Partial<Reply>): boolean => news.file === id;
  const start = { file: id, name: file.name, size: file.size };
  let [content, pieces]: [object, ArrayBuffer[]] = [start, []];
  // The kernel says it at the field, in place of what it said there; without a kernel, the page does.
  const giveUp = async (why: string): Promise<void> => {
    if (!(await ask<Reply>(button.model, kernel, { ...start, failed: why }, isReply))) say(button.el, why);
  };
  sayNothing(button.el);
  for (;;) {
    const reply = (await ask<Reply>(button.model, kernel, content, isReply, pieces))?.content;
    if (!reply) return giveUp(`The file ${file.name} did not reach the kernel: the connection broke. Choose it again.`);
    if (!reply.piece) return;
    const [begin, end] = reply.piece;
    try {
      pieces = [await file.slice(begin, end).arrayBuffer()];
    } catch {
      return giveUp(`The file ${file.name} cannot be read any more. Choose it again.`);
    }
    content = { file: id, begin };
  }
}
