/**
 * A link within the page: a real anchor, so that the usual keys open it in a new tab; a plain click does not reload
 * the page.
 */
import type { AnchorHTMLAttributes, MouseEvent } from "react";
import { navigate } from "./location.ts";

export function Link({ href, onClick, ...rest }: AnchorHTMLAttributes<HTMLAnchorElement> & { href: string }) {
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event);
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (event.defaultPrevented || !isPlain) return;
    event.preventDefault();
    navigate(href);
  };
  return <a href={href} onClick={follow} {...rest} />;
}
