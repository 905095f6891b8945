/* Light and dark: what the style sheet says, for the canvases, and the reader's choice. */

import { ACTION_STYLES } from "./painter.js";

const KEPT = "cogmap-theme";

/** The colours of the page as they are now. */
export function readTheme() {
  const style = getComputedStyle(document.documentElement);
  const value = (name) => style.getPropertyValue(name).trim();
  return {
    ground: value("--stage"),
    ink: value("--ink"),
    edge: value("--edge"),
    outline: value("--outline"),
    path: value("--path"),
    casing: value("--casing"),
    merged: value("--merged"),
    trail: value("--trail"),
    weak: value("--weak"),
    wall: value("--wall"),
    font: value("--font"),
    actions: ACTION_STYLES.map(({ colour }) => value(colour)),
  };
}

function stored() {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null; // a browser that keeps nothing for this page
  }
}

function keep(choice) {
  try {
    localStorage.setItem(KEPT, choice);
  } catch {
    return;
  }
}

/** Follow the system's light or dark until the button says otherwise; `changed` is called after every change. */
export function followTheme(button, changed) {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
  const tell = () => {
    button.setAttribute("aria-pressed", String(isDark()));
    changed();
  };
  if (["light", "dark"].includes(stored())) root.dataset.theme = stored();
  system.addEventListener("change", tell);
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    keep(root.dataset.theme);
    tell();
  });
  tell();
}
