/* Light and dark theme: the style sheet's colours for the canvases, and the reader's choice. */

import { ACTION_STYLES } from "./painter.js";

const STORAGE_KEY = "cogmap-theme";

/** The current colours of the page. */
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
    return localStorage.getItem(STORAGE_KEY);
  } catch {
    return null; // a browser without storage for this page
  }
}

function store(choice) {
  try {
    localStorage.setItem(STORAGE_KEY, choice);
  } catch {
    return;
  }
}

/** Follow the system's theme until the reader clicks the button; `changed` is called after every change. */
export function followTheme(button, changed) {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
  const update = () => {
    button.setAttribute("aria-pressed", String(isDark()));
    changed();
  };
  if (["light", "dark"].includes(stored())) root.dataset.theme = stored();
  system.addEventListener("change", update);
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    store(root.dataset.theme);
    update();
  });
  update();
}
