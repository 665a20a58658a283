/**
 * What stands in place of a view that has nothing to show, and what to do about that.
 */
import type { ReactNode } from "react";
import { Icon, type IconName } from "./icons.tsx";

interface EmptinessProps {
  title: string;
  icon?: IconName;
  children: ReactNode;
}

export function Emptiness({ title, icon = "batch", children }: EmptinessProps) {
  return (
    <div className="flex flex-1 flex-col items-center justify-center px-6 pb-24 text-center text-muted">
      <span className="mb-4 grid size-12 place-items-center rounded-xl border border-line bg-surface text-faint">
        <Icon name={icon} className="size-6" />
      </span>
      <h2 className="mb-1 text-[15px] font-semibold text-ink">{title}</h2>
      {children}
    </div>
  );
}
