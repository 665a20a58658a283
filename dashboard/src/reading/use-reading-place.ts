/**
 * A reading place for as long as a page is shown: checks on every scroll, and restores after every change of size.
 */
import { type RefObject, useLayoutEffect, useState } from "react";
import { ReadingPlace } from "./reading-place.ts";

/** Null until the page is rendered for the first time. */
export function useReadingPlace(
  scroller: RefObject<HTMLElement | null>,
  content: RefObject<HTMLElement | null>,
): ReadingPlace | null {
  const [place, setPlace] = useState<ReadingPlace | null>(null);
  useLayoutEffect(() => {
    const element = scroller.current;
    const inside = content.current;
    if (!element || !inside) return;
    element.scrollTop = 0;
    const made = new ReadingPlace(element);
    setPlace(made);
    const look = () => made.look();
    // What opens or closes under the pointer must not move away.
    const hold = ({ target }: Event) => {
      if (target instanceof Element && target.closest("[data-place] :is(summary, button)")) made.hold();
    };
    const sizes = new ResizeObserver(() => made.settle());
    // Before those that render in response to a scroll.
    element.addEventListener("scroll", look, { passive: true, capture: true });
    inside.addEventListener("click", hold, { capture: true });
    sizes.observe(inside);
    sizes.observe(element);
    return () => {
      element.removeEventListener("scroll", look, { capture: true });
      inside.removeEventListener("click", hold, { capture: true });
      sizes.disconnect();
    };
  }, [scroller, content]);
  return place;
}
