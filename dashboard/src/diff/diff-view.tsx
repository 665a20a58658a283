/**
 * The changes of an attempt, by repository and file. Only a limited amount is expanded at first to keep the page
 * light; what the server cut can be requested in full, up to the server's limit.
 */
import { useMemo, useRef, useState } from "react";
import { useChoice } from "../browser/stored-choice.ts";
import { useHighlighter } from "../code/use-highlighter.ts";
import { Button } from "../parts/button.tsx";
import { FailureNote } from "../parts/failure-note.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { DIFF_BYTES, useDiff } from "../server/board-queries.ts";
import type { Attempt, RepoDiff } from "../server/operate.ts";
import { useMay } from "../session/session.ts";
import { counted } from "../wording/amounts.ts";
import { isAtWork } from "../wording/attempts.ts";
import { visibleText } from "../wording/hidden-characters.ts";
import { type ChangedFile, changedFilesOf } from "./changed-files.ts";
import { treeChoice } from "./diff-layout.ts";
import { FileChanges } from "./file-changes.tsx";
import { FileTreeNav } from "./file-tree-nav.tsx";
import { HiddenFiles } from "./hidden-files.tsx";
import { LineCounts } from "./line-counts.tsx";
import type { FileDiff } from "./parse-diff.ts";
import { ReviewBar } from "./review/review-bar.tsx";
import { ReviewContext, useNewReview } from "./review/review-context.ts";

const OPEN_LINES = 1200;
const OPEN_FILE_LINES = 500;

export function DiffView({ attempt }: { attempt: Attempt }) {
  const isGone = attempt.repos.length > 0 && attempt.repos.every(({ path }) => path === null);
  if (isGone && attempt.state !== "merged") {
    return <p className="text-muted">The worktree is gone, so there is nothing to compare.</p>;
  }
  return (
    <>
      {isGone && (
        <p className="mb-3 text-muted">
          Merged into <ForeignText text={attempt.repos.map(({ target_branch }) => target_branch).join(", ")} />. This is
          what the merge changed.
        </p>
      )}
      <Changes attempt={attempt} nothing={isGone ? "No changes are recorded." : "It changed nothing."} />
    </>
  );
}

interface ChangesProps {
  attempt: Attempt;
  /** The text for an attempt that has ended without a change. */
  nothing: string;
}

function Changes({ attempt, nothing }: ChangesProps) {
  const [maxBytes, setMaxBytes] = useState<number>(DIFF_BYTES.first);
  const diff = useDiff(attempt, maxBytes);
  const repos = diff.data?.repos ?? [];
  const may = useMay("follow_up");
  const review = useNewReview(attempt.attempt_id, may && attempt.state !== "merged");
  const files = useMemo(
    () => (diff.data?.repos ?? []).flatMap((repo) => shownFiles(repo).map((file) => ({ repo: repo.repo_id, file }))),
    [diff.data],
  );
  const isCut = repos.some(({ truncated }) => truncated);
  return (
    <section aria-label="Changes" className="live-data flex min-w-0 flex-col gap-4">
      {diff.isPending && <p className="text-muted">Comparing…</p>}
      {diff.isError && (
        <FailureNote title="The changes could not be read" failure={diff.error} onRetry={() => void diff.refetch()} />
      )}
      {diff.isSuccess && repos.every(({ files }) => files === 0) && (
        <p className="text-muted">{isAtWork(attempt.state) ? "No changes yet." : nothing}</p>
      )}
      <ReviewContext.Provider value={review}>
        {files.length > 0 && <ReviewBar attempt={attempt} repos={repos} files={files} review={review} />}
        {repos
          .filter(({ files }) => files > 0)
          .map((repo) => (
            <RepoChanges key={repo.repo_id} repo={repo} isNamed={repos.length > 1} />
          ))}
      </ReviewContext.Provider>
      {repos.map(
        ({ repo_id, unread }) =>
          unread !== null && <FailureNote key={repo_id} title="Git could not read all of it" failure={unread} />,
      )}
      {isCut && (
        <p className="flex flex-wrap items-center gap-2 rounded-lg border border-line bg-surface px-3 py-2 text-muted">
          The diff is too long to show in full. All changed files are listed.
          {maxBytes < DIFF_BYTES.most ? (
            <Button disabled={diff.isFetching} onClick={() => setMaxBytes(DIFF_BYTES.most)}>
              Show more
            </Button>
          ) : (
            "Use git to see the rest."
          )}
        </p>
      )}
    </section>
  );
}

function RepoChanges({ repo, isNamed }: { repo: RepoDiff; isNamed: boolean }) {
  const files = filesOf(repo);
  const shown = useMemo(() => shownFiles(repo), [repo]);
  const hidden = files.filter(({ shown }) => shown === "none");
  const open = useMemo(() => openAtFirst(files), [files]);
  const highlighter = useHighlighter();
  const element = useRef<HTMLElement>(null);
  const isTreeOpen = useChoice(treeChoice) === "open" && shown.length > 1;
  const reveal = ({ path }: ChangedFile) => {
    const file = element.current?.querySelector(`[data-file="${CSS.escape(path)}"]`);
    const details = file?.querySelector("details");
    if (details) details.open = true;
    const scroller = file?.closest("main");
    if (file && scroller) scroller.scrollTop += file.getBoundingClientRect().top - scroller.getBoundingClientRect().top;
    file?.querySelector("summary")?.focus({ preventScroll: true });
  };
  return (
    <section
      ref={element}
      aria-label={`Changes in ${visibleText(repo.repo_name)}`}
      className="flex min-w-0 flex-col gap-3"
    >
      {isNamed && (
        <header className="flex flex-wrap items-baseline gap-x-3 text-muted">
          <h2 className="foreign text-[15px] font-semibold text-ink">
            <ForeignText text={repo.repo_name} />
          </h2>
          {counted(repo.files, "changed file")}
          <LineCounts insertions={repo.insertions} deletions={repo.deletions} />
        </header>
      )}
      <div
        className={`flex min-w-0 flex-col gap-3 ${isTreeOpen ? "2xl:grid 2xl:grid-cols-[16rem_minmax(0,1fr)]" : ""}`}
      >
        {isTreeOpen && (
          <div className="min-w-0 2xl:sticky 2xl:top-2 2xl:self-start">
            <FileTreeNav repo={repo.repo_id} files={shown} onOpen={reveal} />
          </div>
        )}
        <div className="flex min-w-0 flex-col gap-3">
          {shown.map((file) => (
            <FileChanges
              key={file.path}
              repo={repo.repo_id}
              file={file}
              isOpenAtFirst={open.has(file)}
              highlighter={highlighter}
            />
          ))}
          <HiddenFiles files={hidden} unnamed={repo.files_left_out} />
        </div>
      </div>
    </section>
  );
}

const parsed = new WeakMap<RepoDiff, ChangedFile[]>();

/** Parsed once, however many ask for them. */
function filesOf(repo: RepoDiff): ChangedFile[] {
  const files = parsed.get(repo) ?? changedFilesOf(repo);
  parsed.set(repo, files);
  return files;
}

function shownFiles(repo: RepoDiff): ChangedFile[] {
  return filesOf(repo).filter(({ shown }) => shown !== "none");
}

function openAtFirst(files: readonly FileDiff[]): Set<FileDiff> {
  let left = OPEN_LINES;
  const open = new Set<FileDiff>();
  for (const file of files) {
    const lines = file.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
    if (lines === 0 || lines > OPEN_FILE_LINES || lines > left) continue;
    left -= lines;
    open.add(file);
  }
  return open;
}
