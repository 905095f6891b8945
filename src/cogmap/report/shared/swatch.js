/* Small elements for text: a colour swatch, a sample of a line, and helpers that create elements. */

const SVG = "http://www.w3.org/2000/svg";
const GUESS_MEANS = "a guess: tried too seldom, no plan uses it";

/** An SVG element with attributes, appended to a parent if there is one. */
export function drawn(name, attributes, parent) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (parent) parent.append(made);
  return made;
}

/** A square in an observation's colour. */
export function swatch(colour) {
  const box = drawn("svg", { class: "swatch", viewBox: "0 0 10 10", "aria-hidden": "true" });
  drawn("rect", { x: 0.5, y: 0.5, width: 9, height: 9, rx: 2.5, fill: colour }, box);
  return box;
}

/** A sample of the line of an action's edges. */
export function dashSample(style) {
  const box = drawn("svg", { class: "dash", viewBox: "0 0 30 10", "aria-hidden": "true" });
  const line = drawn("line", { x1: 0, y1: 5, x2: 24, y2: 5, "stroke-width": 2 }, box);
  line.style.stroke = `var(${style.colour})`;
  line.setAttribute("stroke-dasharray", style.dash.join(" "));
  if (style.alpha) box.style.opacity = style.alpha;
  const head = drawn("path", { d: "M23 1L30 5L23 9z" }, box);
  head.style.fill = `var(${style.colour})`;
  return box;
}

/** The legend of guesses: a sample of their line and what it means for plans. */
export function guessLegend(style) {
  return made("span", { className: "guesses" }, dashSample({ colour: "--action-0", ...style }), GUESS_MEANS);
}

/** An HTML element with properties and children. */
export function made(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}
