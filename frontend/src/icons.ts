// The icons of our small buttons: lines on a field of 16 by 16, in the colour of the text around them, so
// that they can be read in every theme, also in one of high contrast.

const SVG = "http://www.w3.org/2000/svg";
const LINES = {
  copy: "M6 5.5h7.5V14H6zM3.5 10.5h-1V2H10v1.5",
  save: "M8 2v8.5M4.5 7.5 8 11l3.5-3.5M2.5 14h11",
  wrap: "M2 3.5h12M2 8h9.7a2.2 2.2 0 0 1 0 4.5H8M10 10.3l-2.2 2.2 2.2 2.2M2 12.5h3",
  full: "M9.5 2.5h4v4M13.5 2.5 9 7M6.5 13.5h-4v-4M2.5 13.5 7 9",
  open: "M4.5 5.5 8 2l3.5 3.5M4.5 10.5 8 14l3.5-3.5",
  shut: "M4.5 2 8 5.5 11.5 2M4.5 14 8 10.5l3.5 3.5",
};

/** The name of an icon. */
export type Icon = keyof typeof LINES;

/** The element of the icon *name*; for a screen reader the text beside it says all. */
export function icon(name: Icon): SVGSVGElement {
  const image = document.createElementNS(SVG, "svg");
  const path = document.createElementNS(SVG, "path");
  image.classList.add("toolbench-icon-lines");
  image.setAttribute("viewBox", "0 0 16 16");
  image.setAttribute("aria-hidden", "true");
  path.setAttribute("d", LINES[name]);
  image.append(path);
  return image;
}
