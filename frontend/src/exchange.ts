// A question to the Python half of a widget, and its answer.

import { isAlive, isIdle, type Model, type Models } from "./connection";

/** An answer, with what came beside it as bytes. */
export interface Answer<T> {
  content: T;
  buffers: DataView[];
}

const ATTEMPTS = 3;
const SILENCE = 4000; // milliseconds: an idle kernel that says nothing for so long has not got the message

/** A new id, by which a question and its answers know each other. */
export function newId(): string {
  return crypto.getRandomValues(new Uint32Array(2)).join("-");
}

/**
 * Send *content*, again if it gets lost, until *isAnswer* knows the answer; undefined if there is none. One with
 * `working` says that the answer comes later.
 */
export async function ask<T>(
  model: Model, kernel: Models, content: object, isAnswer: (news: Partial<T>) => boolean, pieces: ArrayBuffer[] = [],
): Promise<Answer<T> | undefined> {
  let answer: Answer<T> | undefined;
  let isWorking = false;
  const hear = (news: T | null, buffers?: DataView[]): void => {
    if (!news || !isAnswer(news)) return;
    if ("working" in (news as object)) isWorking = true;
    else answer = { content: news, buffers: buffers ?? [] };
  };
  const canAnswer = (): boolean => model.comm_live && isAlive(kernel);
  model.on("msg:custom", hear);
  for (let attempt = 0; attempt < ATTEMPTS && !answer && canAnswer(); attempt++) {
    model.send(content, {}, pieces);
    let silent = performance.now();
    while (!answer && canAnswer() && (isWorking || performance.now() - silent < SILENCE)) {
      await new Promise((go) => setTimeout(go, 10));
      if (!isIdle(kernel)) silent = performance.now();
    }
  }
  model.off("msg:custom", hear);
  return answer;
}
