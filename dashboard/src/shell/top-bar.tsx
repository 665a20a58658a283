/**
 * The bar at the top: the current view, the state of the connection, and what is available everywhere.
 */
import type { Connection } from "../live/live-feed.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icons.tsx";
import { Link } from "../routing/link.tsx";
import { boardPath, type Route } from "../routing/route.ts";
import { Bell } from "./bell.tsx";
import { ConnectionDot } from "./connection-banner.tsx";
import { ThemeToggle } from "./theme-toggle.tsx";

const BOARD_VIEWS = new Set<Route["view"]>(["board", "item", "attempt"]);

interface TopBarProps {
  route: Route;
  connection: Connection;
  onLaunch: () => void;
  onShortcuts: () => void;
}

export function TopBar({ route, connection, onLaunch, onShortcuts }: TopBarProps) {
  return (
    <header className="flex h-13 shrink-0 items-center gap-1 border-b border-line bg-surface px-3 sm:px-5">
      <Link href="/" className="mr-2 flex items-center gap-2 rounded-md font-semibold tracking-tight sm:mr-4">
        <Logo />
        <span className="sr-only text-[15px] sm:not-sr-only">asyncagents</span>
      </Link>
      <nav aria-label="Views" className="flex gap-0.5">
        <NavigationLink href="/" label="Tasks" isHere={route.view === "list"} />
        <NavigationLink href={boardPath()} label="Board" isHere={BOARD_VIEWS.has(route.view)} />
        <NavigationLink href="/stats" label="Stats" isHere={route.view === "stats"} />
      </nav>
      <div className="ml-auto flex items-center gap-0.5">
        <ConnectionDot connection={connection} />
        <span className="hidden sm:block">
          <Button
            weight="quiet"
            className="w-8 px-0"
            aria-label="Keyboard shortcuts"
            title="Keyboard shortcuts (?)"
            onClick={onShortcuts}
          >
            <Icon name="keyboard" />
          </Button>
        </span>
        <Bell />
        <ThemeToggle />
        <Button weight="primary" className="ml-2" title="Launch a task (n)" onClick={onLaunch}>
          <Icon name="plus" />
          <span className="max-[389px]:sr-only">Launch</span>
        </Button>
      </div>
    </header>
  );
}

function NavigationLink({ href, label, isHere }: { href: string; label: string; isHere: boolean }) {
  const look = isHere ? "bg-raised text-ink" : "text-muted hover:text-ink";
  return (
    <Link
      href={href}
      aria-current={isHere ? "page" : undefined}
      className={`rounded-md px-2.5 py-1.5 font-medium transition-colors ${look}`}
    >
      {label}
    </Link>
  );
}

function Logo() {
  return (
    <svg viewBox="0 0 32 32" className="size-6" aria-hidden="true">
      <rect width="32" height="32" rx="8" className="fill-accent" />
      <g className="fill-on-accent">
        <rect x="7" y="8.5" width="11" height="3.6" rx="1.8" />
        <rect x="11" y="14.2" width="14" height="3.6" rx="1.8" opacity=".8" />
        <rect x="8" y="19.9" width="9" height="3.6" rx="1.8" opacity=".55" />
      </g>
    </svg>
  );
}
