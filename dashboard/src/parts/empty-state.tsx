/**
 * Shown instead of a view that has nothing to show, with what to do about it.
 */
import type { ReactNode } from "react";
import { Icon, type IconName } from "./icons.tsx";

interface EmptyStateProps {
  title: string;
  /** False if the view above it has its own title. */
  isTitle?: boolean;
  icon?: IconName;
  children: ReactNode;
}

export function EmptyState({ title, isTitle = true, icon = "batch", children }: EmptyStateProps) {
  const Heading = isTitle ? "h1" : "h2";
  return (
    <div className="flex flex-1 flex-col items-center justify-center px-6 pb-24 text-center text-muted">
      <span className="mb-4 grid size-12 place-items-center rounded-xl border border-line bg-surface text-faint">
        <Icon name={icon} className="size-6" />
      </span>
      <Heading className="mb-1 text-[15px] font-semibold text-ink">{title}</Heading>
      {children}
    </div>
  );
}
