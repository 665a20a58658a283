/**
 * Keeps a growing conversation steady: who is at the end stays at the end, whatever is drawn late; who is not, stays with
 * the message they read, also when earlier ones are put before it.
 */
import { type RefObject, useEffect, useLayoutEffect, useRef } from "react";

const END_PX = 60;

export function useSteadyScroll(
  scroller: RefObject<HTMLElement | null>,
  content: RefObject<HTMLElement | null>,
  firstMessageId: string | undefined,
) {
  const isAtEnd = useRef(false);
  const anchor = useRef<{ message: Element; top: number } | null>(null);

  useEffect(() => {
    const element = scroller.current;
    if (!element || !content.current || firstMessageId === undefined) return;
    const look = () => {
      isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < END_PX;
    };
    const growth = new ResizeObserver(() => {
      if (isAtEnd.current) element.scrollTop = element.scrollHeight;
    });
    // All that fits in view is read from its end, too.
    if (element.scrollHeight <= element.clientHeight) isAtEnd.current = true;
    element.addEventListener("scroll", look, { passive: true });
    growth.observe(content.current);
    return () => {
      element.removeEventListener("scroll", look);
      growth.disconnect();
    };
  }, [scroller, content, firstMessageId]);

  // Depends on the first message, because a new one is what moves the others.
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element && anchor.current?.message.isConnected) {
      element.scrollTop += anchor.current.message.getBoundingClientRect().top - anchor.current.top;
    }
    anchor.current = null;
  }, [scroller, firstMessageId]);

  /** Call before earlier messages are loaded. */
  return () => {
    const message = content.current?.querySelector("[data-message-id]");
    if (message) anchor.current = { message, top: message.getBoundingClientRect().top };
  };
}
