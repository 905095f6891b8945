/* Tabs after the ARIA pattern: one is in the tab order, arrow keys move to the others. */

export class Tabs {
  constructor(list, opened) {
    this.tabs = [...list.querySelectorAll('[role="tab"]')];
    this.opened = opened;
    list.addEventListener("keydown", (event) => this.key(event));
    for (const tab of this.tabs) tab.addEventListener("click", () => this.open(nameOf(tab)));
  }

  open(name) {
    for (const tab of this.tabs) {
      const chosen = nameOf(tab) === name;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
      document.getElementById(tab.getAttribute("aria-controls")).hidden = !chosen;
    }
    this.opened(name);
  }

  key(event) {
    const here = this.tabs.indexOf(document.activeElement);
    const last = this.tabs.length - 1;
    const next = {
      ArrowRight: here === last ? 0 : here + 1,
      ArrowLeft: here === 0 ? last : here - 1,
      Home: 0,
      End: last,
    }[event.key];
    if (next === undefined || here < 0) return;
    event.preventDefault();
    this.tabs[next].focus();
    this.open(nameOf(this.tabs[next]));
  }
}

function nameOf(tab) {
  return tab.id.replace("tab-", "");
}
