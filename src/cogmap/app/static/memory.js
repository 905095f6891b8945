/* The page's state in its address, so that a reload or a link shows the same. */

export function recall() {
  const kept = new URLSearchParams(location.hash.slice(1));
  const number = (name) => (/^\d+$/.test(kept.get(name) ?? "") ? Number(kept.get(name)) : null);
  return {
    tab: kept.get("tab"),
    kind: kept.get("map"),
    revision: kept.get("revision"),
    start: number("start"),
    goal: number("goal"),
    avoid: (kept.get("avoid") ?? "")
      .split(",")
      .filter((text) => /^\d+$/.test(text))
      .map(Number),
  };
}

export function remember({ tab, kind, revision, start, goal, avoid }) {
  const kept = { tab, map: kind, revision, start, goal, avoid: avoid.join(",") };
  const given = Object.entries(kept).filter(([, value]) => value !== null && value !== undefined && value !== "");
  history.replaceState(null, "", `#${new URLSearchParams(given)}`);
}
