/**
 * What stands in place of the list when there is nothing in it, and what to do about that.
 */
import type { ReactNode } from "react";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icons.tsx";

export function EmptyList({ onLaunch }: { onLaunch: () => void }) {
  return (
    <Emptiness title="No tasks yet">
      <p>In OpenCode, ask the agent to run something in the background, or press “Launch”.</p>
      <p>A task shows up here the moment it starts.</p>
      <Button weight="primary" className="mt-3" onClick={onLaunch}>
        <Icon name="plus" />
        Launch a task
      </Button>
    </Emptiness>
  );
}

export function NoMatch({ onClear }: { onClear: () => void }) {
  return (
    <Emptiness title="No task matches these filters">
      <p>Tasks that come to match will appear here by themselves.</p>
      <Button className="mt-3" onClick={onClear}>
        Clear filters
      </Button>
    </Emptiness>
  );
}

function Emptiness({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="flex flex-1 flex-col items-center justify-center px-6 pb-24 text-center text-muted">
      <span className="mb-4 grid size-12 place-items-center rounded-xl border border-line bg-surface text-faint">
        <Icon name="batch" className="size-6" />
      </span>
      <h2 className="mb-1 text-[15px] font-semibold text-ink">{title}</h2>
      {children}
    </div>
  );
}
