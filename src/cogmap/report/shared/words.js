/* Numbers as text. */

/** "1 node", "2 nodes", "10,000 nodes". */
export function counted(count, noun) {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/** A share in per cent. */
export function percent(share, digits = 0) {
  return `${(100 * share).toFixed(digits)}%`;
}
