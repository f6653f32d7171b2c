// What a program sets in an element: the browser tells only of what a person changes there.

/** Call *react* whenever the property *name* of *element* is set, as ipywidgets does for a value of the kernel. */
export function onSet(element: HTMLElement, name: string, react: () => void): void {
  const own = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(element), name);
  if (!own?.get || !own.set) return;
  Object.defineProperty(element, name, {
    ...own,
    set(value: unknown) {
      own.set?.call(this, value);
      react();
    },
  });
}
