/**
 * The input of a tool call in a readable form: a command as a command, an edit as a diff, a file as its contents,
 * anything else as JSON.
 */
import { CodeBlock } from "../code/code-block.tsx";
import { useHighlighter } from "../code/use-highlighter.ts";
import { HunkLines } from "../diff/hunk-lines.tsx";
import { hunkBetween } from "../diff/line-diff.ts";
import { ForeignText } from "../parts/foreign-text.tsx";
import type { ToolPart } from "./tool-call.tsx";
import { subjectOf, type ToolSubject } from "./tool-subjects.ts";

export function ToolInput({ part }: { part: ToolPart }) {
  const label = `Input of ${part.name}`;
  const subject = subjectOf(part.name, part.input);
  if (subject !== null) return <Subject subject={subject} label={label} />;
  if (part.input === undefined || part.input === null) return null;
  return <CodeBlock label={label} text={JSON.stringify(part.input, null, 2)} language="json" />;
}

function Subject({ subject, label }: { subject: ToolSubject; label: string }) {
  switch (subject.kind) {
    case "command":
      return <CodeBlock label={label} text={subject.command} language="bash" />;
    case "patch":
      return <CodeBlock label={label} text={subject.text} language="diff" />;
    case "file":
      return (
        <>
          <FilePath path={subject.path} />
          <CodeBlock label={label} text={subject.content} language={subject.path} />
        </>
      );
    case "edits":
      return <Edits subject={subject} />;
  }
}

function Edits({ subject: { path, edits } }: { subject: Extract<ToolSubject, { kind: "edits" }> }) {
  const highlighter = useHighlighter();
  return (
    <>
      <FilePath path={path} />
      <div className="diff-bare min-w-0 overflow-hidden rounded-lg border border-line py-1">
        {edits.map(({ before, after }, index) => (
          <HunkLines
            key={index}
            hunk={hunkBetween(before, after)}
            path={path}
            isFirst={index === 0}
            highlighter={highlighter}
          />
        ))}
      </div>
    </>
  );
}

function FilePath({ path }: { path: string }) {
  if (path === "") return null;
  return (
    <p className="foreign font-mono text-xs text-muted">
      <ForeignText text={path} />
    </p>
  );
}
