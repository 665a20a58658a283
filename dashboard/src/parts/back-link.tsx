/** The link up from a page, before its title. */
import { Link } from "../routing/link.tsx";
import { Icon } from "./icons.tsx";

export function BackLink({ href, label }: { href: string; label: string }) {
  return (
    <Link
      href={href}
      aria-label={label}
      className="-ml-2 grid size-8 shrink-0 place-items-center rounded-md text-muted hover:bg-raised hover:text-ink"
    >
      <Icon name="back" />
    </Link>
  );
}
