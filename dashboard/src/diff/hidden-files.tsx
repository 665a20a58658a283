/**
 * The files after the point where a diff was cut: their names and counts, without lines.
 */
import { ForeignText } from "../parts/foreign-text.tsx";
import { Icon } from "../parts/icons.tsx";
import { counted } from "../wording/amounts.ts";
import type { ChangedFile } from "./changed-files.ts";
import { LineCounts } from "./line-counts.tsx";

interface HiddenFilesProps {
  files: readonly ChangedFile[];
  /** The number of further files, without names. */
  unnamed: number;
}

export function HiddenFiles({ files, unnamed }: HiddenFilesProps) {
  const count = files.length + unnamed;
  if (count === 0) return null;
  return (
    <section aria-label="Files that are not shown" className="rounded-lg border border-line bg-surface">
      <h3 className="flex items-center gap-2 px-3 py-2 font-medium text-attention">
        <Icon name="warning" className="size-3.5" />
        {counted(count, "changed file")} not shown
      </h3>
      <ul
        aria-label="Names of the files that are not shown"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keys
        tabIndex={0}
        className="max-h-96 overflow-y-auto border-t border-line py-1 font-mono text-xs"
      >
        {files.map((file) => (
          <li key={file.path} data-hidden-file={file.path} className="flex items-baseline gap-3 px-3 py-0.5">
            <span className="foreign min-w-0 flex-1">
              <ForeignText text={file.path} />
            </span>
            {file.isBinary ? (
              <span className="text-faint">binary</span>
            ) : (
              <LineCounts insertions={file.insertions} deletions={file.deletions} />
            )}
          </li>
        ))}
        {unnamed > 0 && <li className="px-3 py-0.5 text-muted">and {counted(unnamed, "more file")}</li>}
      </ul>
    </section>
  );
}
