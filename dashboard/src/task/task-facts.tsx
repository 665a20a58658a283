/**
 * The facts of a task: where it runs, with what, and what it has used so far.
 */
import type { ReactNode } from "react";
import { givenText } from "../../../src/model/answer.ts";
import type { BackgroundTask } from "../../../src/protocol/tasks.ts";
import { Fold } from "../conversation/fold.tsx";
import { LongText } from "../conversation/long-text.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { Ago } from "../parts/times.tsx";
import { costText, countText } from "../wording/amounts.ts";

export function TaskFacts({ task }: { task: BackgroundTask }) {
  const { tokens, cost, toolCalls } = task.progress;
  return (
    <section aria-label="Facts" className="flex flex-col gap-3">
      <dl className="grid grid-cols-[6.5rem_minmax(0,1fr)] gap-x-3 gap-y-1.5">
        <Fact name="Agent">
          <ForeignText text={task.agent || "the host’s default"} />
        </Fact>
        <Fact name="Model">
          <ForeignText text={task.model ?? "the host’s default"} />
        </Fact>
        <Fact name="Host">
          <ForeignText text={task.host} />
        </Fact>
        <Fact name="Directory" isMono>
          <ForeignText text={task.directory} />
        </Fact>
        <PlaceFacts task={task} />
        <Fact name="Tokens in">{countText(tokens.input)}</Fact>
        <Fact name="Tokens out">
          {countText(tokens.output)}
          {tokens.reasoning > 0 && <span className="text-muted"> + {countText(tokens.reasoning)} reasoning</span>}
        </Fact>
        <Fact name="Cache">
          {countText(tokens.cacheRead)} read, {countText(tokens.cacheWrite)} written
        </Fact>
        <Fact name="Cost">{costText(cost)}</Fact>
        <Fact name="Tool calls">
          {countText(toolCalls)}
          <ToolCounts counts={task.progress.toolCallsByName} />
        </Fact>
        <Fact name="Id" isMono>
          {task.id}
        </Fact>
      </dl>
      <Answers task={task} />
      <Fold line={<span className="font-medium text-muted">Prompt</span>}>
        {() => <LongText label="Prompt" text={task.prompt} />}
      </Fold>
    </section>
  );
}

/** How what it asked was answered, by a policy as by people. */
function Answers({ task: { answers = [] } }: { task: BackgroundTask }) {
  if (answers.length === 0) return null;
  return (
    <Fold line={<span className="font-medium text-muted">Answers ({answers.length})</span>}>
      {() => (
        <ul aria-label="Answers" className="flex flex-col gap-2">
          {answers.map((answer) => (
            <li key={`${answer.run}/${answer.requestId}/${answer.at}`} className="foreign flex min-w-0 flex-col">
              <span>
                {givenText(answer)}, <Ago at={answer.at} />
              </span>
              {answer.asked !== undefined && (
                <span className="line-clamp-2 font-mono text-xs text-muted">
                  <ForeignText text={answer.asked} />
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
    </Fold>
  );
}

/** Where it is, or can be, if there are several machines. */
function PlaceFacts({ task: { clone, queue } }: { task: BackgroundTask }) {
  return (
    <>
      {clone && (
        <>
          <Fact name="Machine">
            <ForeignText text={clone.hostname} /> <span className="text-muted">in a clone of</span>{" "}
            <ForeignText text={clone.remote} />
          </Fact>
          <Fact name="Branch" isMono>
            <ForeignText text={clone.branch} />
          </Fact>
        </>
      )}
      {queue?.bound && (
        <Fact name="Machine">
          <span className="text-muted">only the one it was queued on:</span> <ForeignText text={queue.bound} />
        </Fact>
      )}
      {queue?.remote && (
        <Fact name="Machine">
          <span className="text-muted">any; others clone</span> <ForeignText text={queue.remote} />
        </Fact>
      )}
      {queue?.trouble && (
        <Fact name="Tried">
          <ForeignText text={queue.trouble} />
        </Fact>
      )}
    </>
  );
}

interface FactProps {
  name: string;
  isMono?: boolean;
  children: ReactNode;
}

function Fact({ name, isMono = false, children }: FactProps) {
  return (
    <>
      <dt className="text-faint">{name}</dt>
      <dd className={`foreign min-w-0 ${isMono ? "font-mono text-xs leading-5" : ""}`}>{children}</dd>
    </>
  );
}

function ToolCounts({ counts }: { counts: Record<string, number> }) {
  const most = Object.entries(counts).sort(([, one], [, other]) => other - one);
  if (most.length === 0) return null;
  return (
    <ul aria-label="Tool calls by name" className="mt-1 flex flex-wrap gap-1">
      {most.map(([name, count]) => (
        <li key={name} className="foreign rounded bg-raised px-1.5 py-0.5 font-mono text-[11px]">
          <ForeignText text={name} /> <span className="text-faint">{countText(count)}</span>
        </li>
      ))}
    </ul>
  );
}
