/**
 * The changed files as a tree: what became of each, whether it was viewed, and a way to it.
 */
import { useMemo, useState } from "react";
import { FIELD } from "../forms/form-fields.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { Icon } from "../parts/icons.tsx";
import { visibleText } from "../wording/hidden-characters.ts";
import type { ChangedFile } from "./changed-files.ts";
import { fileTree, type TreeFolder } from "./file-tree.ts";
import { useFileComments, useIsViewed } from "./review/review-context.ts";

/** With more files than this, the list can be filtered. */
const FEW = 15;

const LETTERS: Record<ChangedFile["change"], { letter: string; word: string; look: string }> = {
  added: { letter: "A", word: "new", look: "text-[var(--added)]" },
  removed: { letter: "D", word: "deleted", look: "text-[var(--removed)]" },
  moved: { letter: "R", word: "moved", look: "text-attention" },
  changed: { letter: "M", word: "changed", look: "text-faint" },
};

interface FileTreeNavProps {
  repo: string;
  files: readonly ChangedFile[];
  onOpen: (file: ChangedFile) => void;
}

export function FileTreeNav({ repo, files, onOpen }: FileTreeNavProps) {
  const [filter, setFilter] = useState("");
  const tree = useMemo(() => {
    const wanted = filter.toLowerCase();
    return fileTree(files.filter(({ path }) => path.toLowerCase().includes(wanted)));
  }, [files, filter]);
  return (
    <nav
      aria-label="Changed files"
      className="flex min-w-0 flex-col gap-2 rounded-lg border border-line bg-surface p-2"
    >
      {files.length > FEW && (
        <input
          type="search"
          aria-label="Filter files"
          placeholder="Filter files"
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
          className={`${FIELD} h-8`}
        />
      )}
      <div className="relative max-h-72 overflow-y-auto 2xl:max-h-[calc(100dvh-12rem)]">
        <Folder folder={tree} repo={repo} depth={0} onOpen={onOpen} />
        {tree.files.length + tree.folders.length === 0 && <p className="px-1.5 text-muted">No such file.</p>}
      </div>
    </nav>
  );
}

interface FolderProps {
  folder: TreeFolder<ChangedFile>;
  repo: string;
  depth: number;
  onOpen: (file: ChangedFile) => void;
}

function Folder({ folder, repo, depth, onOpen }: FolderProps) {
  const inset = { paddingInlineStart: `${depth * 0.75 + 0.375}rem` };
  return (
    <ul className="min-w-0 text-[13px]">
      {folder.folders.map((each) => (
        <li key={each.path} className="min-w-0">
          <p className="truncate py-0.5 text-muted" style={inset} title={visibleText(each.path)}>
            <ForeignText text={`${each.name}/`} />
          </p>
          <Folder folder={each} repo={repo} depth={depth + 1} onOpen={onOpen} />
        </li>
      ))}
      {folder.files.map(({ name, file }) => (
        <li key={file.path} className="min-w-0">
          <Entry name={name} file={file} repo={repo} inset={inset} onOpen={onOpen} />
        </li>
      ))}
    </ul>
  );
}

interface EntryProps {
  name: string;
  file: ChangedFile;
  repo: string;
  inset: { paddingInlineStart: string };
  onOpen: (file: ChangedFile) => void;
}

function Entry({ name, file, repo, inset, onOpen }: EntryProps) {
  const isViewed = useIsViewed(repo, file);
  const comments = useFileComments(repo, file.path).length;
  const { letter, word, look } = LETTERS[file.change];
  return (
    <button
      type="button"
      data-tree-file={file.path}
      title={visibleText(file.path)}
      onClick={() => onOpen(file)}
      style={inset}
      className="flex w-full min-w-0 items-center gap-2 rounded py-0.5 pr-1.5 text-left hover:bg-raised"
    >
      <span className={`w-3 shrink-0 text-center font-mono text-xs ${look}`}>
        <span aria-hidden="true">{letter}</span>
        <span className="sr-only">{word}</span>
      </span>
      <span className={`foreign min-w-0 flex-1 truncate ${isViewed ? "text-faint" : ""}`}>
        <ForeignText text={name} />
      </span>
      {comments > 0 && <span className="shrink-0 rounded bg-accent/14 px-1 text-[11px] text-accent">{comments}</span>}
      {isViewed && (
        <span className="text-faint">
          <Icon name="completed" className="size-3" />
          <span className="sr-only">viewed</span>
        </span>
      )}
    </button>
  );
}
