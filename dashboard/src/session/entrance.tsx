/**
 * What a visitor sees first: the page itself, or the form to sign in. The event stream is read while somebody is signed
 * in, and what was read is forgotten when the session ends.
 */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { App } from "../app.tsx";
import type { TaskPages } from "../list/task-pages.ts";
import type { LiveFeed } from "../live/live-feed.ts";
import { readingClient } from "../server/page-client.ts";
import { useSession } from "./session.ts";
import { SignInPage } from "./sign-in-page.tsx";

interface EntranceProps {
  feed: LiveFeed;
  allTasks: TaskPages;
}

export function Entrance({ feed, allTasks }: EntranceProps) {
  const session = useSession();
  const queries = useQueryClient();
  const isOpen = session.kind === "open";
  useEffect(() => {
    if (!isOpen) return;
    const leaving = new AbortController();
    void feed.read(readingClient, leaving.signal).catch(() => undefined);
    return () => {
      leaving.abort();
      queries.clear();
    };
  }, [isOpen, feed, queries]);
  if (session.kind === "opening") return null;
  return isOpen ? <App feed={feed} allTasks={allTasks} /> : <SignInPage reason={session.reason} />;
}
