/**
 * Moves the keyboard focus from card to card: within a column, and to the neighbouring columns.
 */

const LINK = "[data-card-link]";

/** To the card above or below the focused one. */
export function focusCard(column: Element | null, from: EventTarget, step: number): boolean {
  const row = from instanceof Element ? from.closest("[data-index]") : null;
  if (!column || !row || !from || !(from as Element).matches(LINK)) return false;
  const index = Number(row.getAttribute("data-index")) + step;
  return focused(column.querySelector(`[data-index="${index}"] ${LINK}`));
}

/** To the first card of the next column that has one. */
export function focusNeighbour(column: Element | null, step: 1 | -1): boolean {
  if (!document.activeElement?.matches(LINK)) return false;
  const columns = [...document.querySelectorAll("[data-column]")];
  const here = columns.findIndex((other) => other.contains(column));
  for (let at = here + step; here !== -1 && at >= 0 && at < columns.length; at += step) {
    if (focused(columns[at]?.querySelector(LINK))) return true;
  }
  return false;
}

function focused(link: Element | null | undefined): boolean {
  if (!(link instanceof HTMLElement)) return false;
  link.focus();
  link.scrollIntoView({ block: "nearest", inline: "nearest" });
  return true;
}
