/* A row of radio buttons. */

import { made } from "./shared/swatch.js";

/** Fill a fieldset with radio buttons for `choices` [{id, name}]; hide it if there is only one. */
export function segments(fieldset, choices, chosen, changed) {
  const legend = fieldset.querySelector("legend");
  const labels = choices.map(({ id, name }) => {
    const radio = made("input", { type: "radio", name: fieldset.id, value: id, checked: id === chosen });
    radio.addEventListener("change", () => changed(id));
    return made("label", {}, radio, made("span", {}, name));
  });
  const of = made("span", { className: "of" }, fieldset.dataset.of);
  of.setAttribute("aria-hidden", "true"); // the legend says it
  fieldset.replaceChildren(legend, of, ...labels);
  fieldset.hidden = choices.length < 2;
}
