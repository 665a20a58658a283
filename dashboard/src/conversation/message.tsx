/**
 * One message of a conversation: author, time, and its parts in order. Rendered again only when the message itself
 * changes.
 */
import { memo } from "react";
import type { LogMessage, LogPart } from "../../../src/protocol/conversations.ts";
import { ErrorBoundary } from "../parts/error-boundary.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { Icon } from "../parts/icons.tsx";
import { TypedText } from "../parts/typed-text.tsx";
import { compactText, costText, tokensTitle, totalTokens } from "../wording/amounts.ts";
import { clockText, exactText } from "../wording/durations.ts";
import { AttachedFile } from "./attached-file.tsx";
import { Fold } from "./fold.tsx";
import { LongText } from "./long-text.tsx";
import { RichText } from "./rich-text.tsx";
import { ToolCall } from "./tool-call.tsx";

export const Message = memo(function Message({ message }: { message: LogMessage }) {
  const isUser = message.role === "user";
  const shown = message.parts.filter((part) => part.type !== "other");
  const keys = partKeys(shown);
  return (
    <article
      aria-label={`${message.role} message`}
      data-role={message.role}
      data-message-id={message.id}
      className={`flex min-w-0 flex-col gap-2 border-l-2 py-1 pl-3.5 ${isUser ? "border-accent" : "border-line"}`}
    >
      <MessageHead message={message} />
      <ErrorBoundary title="This message could not be shown" resetKey={message.id}>
        {shown.map((part, index) => (
          <Part key={keys[index]} part={part} name={`${message.id} ${keys[index]}`} isTyped={isUser} />
        ))}
        <HostRecords parts={message.parts} />
      </ErrorBoundary>
      {message.error !== null && <LongText label="Error of the message" text={message.error} isError />}
    </article>
  );
});

function MessageHead({ message }: { message: LogMessage }) {
  const who = message.role === "user" ? "user" : (message.agent ?? "assistant");
  return (
    <header className="flex flex-wrap items-baseline gap-x-2.5 text-xs text-faint">
      <span className="foreign text-[13px] font-semibold text-ink">
        <ForeignText text={who} />
      </span>
      <time dateTime={message.at} title={exactText(message.at)}>
        {clockText(message.at)}
      </time>
      {message.model !== null && (
        <span className="foreign hidden sm:inline">
          <ForeignText text={message.model} />
        </span>
      )}
      {message.tokens !== null && (
        <span title={tokensTitle(message.tokens)}>{compactText(totalTokens(message.tokens))} tokens</span>
      )}
      {message.cost !== null && message.cost > 0 && <span>{costText(message.cost)}</span>}
      {message.role === "assistant" && message.endedAt === null && message.error === null && (
        <span className="animate-pulse text-[var(--running)]">writing…</span>
      )}
    </header>
  );
}

interface PartProps {
  part: LogPart;
  /** The name of its fold. */
  name: string;
  /** A prompt: shown as typed. */
  isTyped: boolean;
}

function Part({ part, name, isTyped }: PartProps) {
  switch (part.type) {
    case "text":
      if (part.text.trim() === "") return null;
      return part.hidden ? (
        <Folded name={name} label="For the model" text={part.text} isTyped={isTyped} />
      ) : (
        <Said text={part.text} isTyped={isTyped} />
      );
    case "reasoning":
      return part.text.trim() === "" ? null : <Folded name={name} label="Reasoning" text={part.text} isTyped={false} />;
    case "tool":
      return <ToolCall part={part} foldName={name} />;
    case "file":
      return <AttachedFile part={part} />;
    case "other":
      return null;
  }
}

function Said({ text, isTyped }: { text: string; isTyped: boolean }) {
  return isTyped ? <TypedText text={text} /> : <RichText text={text} />;
}

/** The host's own bookkeeping (such as where a step started and ended): available, but out of the way. */
function HostRecords({ parts }: { parts: readonly LogPart[] }) {
  const records = parts.flatMap((part) => (part.type === "other" ? [part.raw] : []));
  if (records.length === 0) return null;
  return (
    <details className="text-xs text-faint">
      <summary className="w-fit">
        {records.length} {records.length === 1 ? "record" : "records"} of the host
      </summary>
      <LongText label="Records of the host" text={JSON.stringify(records, null, 2)} />
    </details>
  );
}

interface FoldedProps {
  name: string;
  label: string;
  text: string;
  isTyped: boolean;
}

function Folded({ name, label, text, isTyped }: FoldedProps) {
  const line = (
    <>
      <Icon name="thought" className="size-3.5 text-faint" />
      <span className="shrink-0 font-medium text-muted">{label}</span>
      <span className="foreign min-w-0 flex-1 truncate text-faint">
        <ForeignText text={text.trim().slice(0, 160)} />
      </span>
    </>
  );
  return (
    <Fold line={line} name={name}>
      {() => <Said text={text} isTyped={isTyped} />}
    </Fold>
  );
}

/** Parts have no ids of their own, but they are only ever added at the end. */
function partKeys(parts: readonly LogPart[]): string[] {
  return parts.map((part, index) => (part.type === "tool" ? `tool ${part.callId} ${index}` : `${part.type} ${index}`));
}
