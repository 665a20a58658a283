/**
 * The bar at the top: the current view, the state of the connection, and what is available everywhere.
 */
import type { Connection } from "../live/live-feed.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icons.tsx";
import { Link } from "../routing/link.tsx";
import { boardPath, type Route } from "../routing/route.ts";
import { Allowed } from "../session/allowed.tsx";
import { SignedIn } from "../session/signed-in.tsx";
import { Bell } from "./bell.tsx";
import { ConnectionDot } from "./connection-banner.tsx";
import { Logo } from "./logo.tsx";
import { ThemeToggle } from "./theme-toggle.tsx";

const BOARD_VIEWS = new Set<Route["view"]>(["board", "item", "attempt"]);

interface TopBarProps {
  route: Route;
  connection: Connection;
  onLaunch: () => void;
  onShortcuts: () => void;
  onPalette: () => void;
}

export function TopBar({ route, connection, onLaunch, onShortcuts, onPalette }: TopBarProps) {
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
        <Button
          weight="quiet"
          className="w-8 px-0"
          aria-label="Search tasks, pages and actions"
          aria-keyshortcuts="Control+K Meta+K"
          title="Search tasks, pages and actions (Ctrl K)"
          onClick={onPalette}
        >
          <Icon name="search" />
        </Button>
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
        {/* On a phone there is no room for it; the palette has the themes, too. */}
        <span className="hidden sm:block">
          <ThemeToggle />
        </span>
        <SignedIn />
        <Allowed to="launch">
          <Button weight="primary" className="ml-2" title="Launch a task (n)" onClick={onLaunch}>
            <Icon name="plus" />
            <span className="max-[389px]:sr-only">Launch</span>
          </Button>
        </Allowed>
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
