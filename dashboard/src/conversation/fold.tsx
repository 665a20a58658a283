/**
 * Content folded under one line. It is rendered when it is first opened: a long conversation has thousands of folds.
 */
import { type ReactNode, useContext, useState } from "react";
import { Icon } from "../parts/icons.tsx";
import { OpenFolds } from "./open-folds.ts";

interface FoldProps {
  line: ReactNode;
  /** The name under which its state is kept, if it can leave the page and come back. */
  name?: string;
  children: () => ReactNode;
}

export function Fold({ line, name, children }: FoldProps) {
  const folds = useContext(OpenFolds);
  const [isOpen, setIsOpen] = useState(name !== undefined && (folds?.get(name) ?? false));
  const toggle = (opens: boolean) => {
    if (name !== undefined) folds?.set(name, opens);
    setIsOpen(opens);
  };
  return (
    <details
      open={isOpen}
      onToggle={(event) => toggle(event.currentTarget.open)}
      className="group/fold min-w-0 rounded-lg border border-line bg-surface"
    >
      <summary className="flex min-h-8 list-none items-center gap-2 rounded-lg px-2.5 py-1.5 hover:bg-raised [&::-webkit-details-marker]:hidden">
        <Icon name="chevron" className="size-3 text-faint transition-transform group-open/fold:rotate-90" />
        {line}
      </summary>
      {isOpen && <div className="flex flex-col gap-2 border-t border-line p-2.5">{children()}</div>}
    </details>
  );
}
