// The view of ipywidgets at a field, from which it is heard what the kernel sets there: the browser tells only of
// what a person changes. The module of one kernel draws what stands beside the fields of a page, and that of
// the field's own kernel knows the view.

import { type Models, type View, viewAt } from "./connection";

const ASK = "toolbench-view"; // an event at a field

type Asked = CustomEvent<(view: View) => void>;

/** Answer who asks for views of the kernel behind *models*, until *signal*. */
export function answerViews(models: Models, signal: AbortSignal): void {
  const answer = async ({ target, detail }: Asked): Promise<void> => {
    const view = target instanceof Element ? await viewAt(target, models) : undefined;
    if (view) detail(view);
  };
  document.addEventListener(ASK, (event) => void answer(event as Asked), { signal });
}

/** Do *act* with the view of *field*, now or never: no kernel may know it yet. */
export function withView(field: Element, act: (view: View) => void): void {
  field.dispatchEvent(new CustomEvent(ASK, { bubbles: true, detail: act }));
}

/** Call *react* after each change of the model of *view*, as long as it is in the page. */
export function onSet(view: View, react: () => void): void {
  view.listenTo(view.model, "change", react);
}
