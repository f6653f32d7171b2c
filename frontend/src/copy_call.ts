// "Copy call": the page asks the kernel for the call, which answers by the button, and copies it.

import { copyText } from "./clipboard";
import type { Models, View } from "./connection";
import { say } from "./copy_button";
import { ask } from "./exchange";

/** The button that copies a call. */
export const COPY_CALL = ".toolbench-copy-call";
const places = new WeakMap<Element, HTMLElement>(); // where each button says what it did

/** Send *click* by the button of the view, and copy what it answers. */
export async function copyCall({ el, model }: View, kernel: Models, click: object): Promise<void> {
  const isCall = (news: { copy?: string }): boolean => typeof news.copy === "string";
  const answer = await ask<{ copy: string }>(model, kernel, click, isCall);
  if (!answer) return;
  const said = places.get(el) ?? document.createElement("span");
  places.set(el, said);
  said.className = "toolbench-said toolbench-copied";
  said.setAttribute("role", "status");
  el.parentElement?.append(said);
  say(said, (await copyText(answer.content.copy)) ? "Copied" : "The browser did not let it be copied");
}
