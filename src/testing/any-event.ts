/**
 * Arbitraries for property tests: every event of the model, with texts and numbers of any shape. Events and states are
 * combined at random; few run numbers and short sequences make realistic task histories likely.
 */
import fc from "fast-check";
import { IF_FAILED } from "../model/after.ts";
import { ANSWERERS, DOORS, REPLIES } from "../model/answer.ts";
import type { Resumable, TaskEvent, TaskEventType } from "../model/events.ts";
import type { Progress } from "../model/progress.ts";
import { PAUSE_CAUSES, PHASES, type PhaseDetail, type Run, STATUSES, type Task, WAKES } from "../model/task.ts";

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary" }),
  fc.constantFrom("", "a\0b", "\ud800", "🌍", "' or 1=1"),
);
const time = fc.integer({ min: 0, max: 2 ** 45 });
const count = fc.nat({ max: 2 ** 31 });
const run = fc.integer({ min: 0, max: 2 });

/** A task id of any shape. */
export const anyId = text;

export const anyProgress: fc.Arbitrary<Progress> = fc.record({
  toolCalls: count,
  toolCallsByName: fc.dictionary(text, count, { maxKeys: 3 }),
  lastTools: fc.array(text, { maxLength: 3 }),
  lastUpdate: time,
  tokens: fc.record({ input: count, output: count, reasoning: count, cacheRead: count, cacheWrite: count }),
  cost: fc.double({ min: 0, max: 1e6, noNaN: true }),
});

/** Few, so that receipts often belong to what was asked. */
const request = fc.oneof(fc.constantFrom("r1", "r2"), text);

type DetailKind = PhaseDetail["kind"];
type DetailFields<Kind extends DetailKind> = Omit<Extract<PhaseDetail, { kind: Kind }>, "kind">;

/** Complete, so that a new kind of detail does not compile without it. */
const details: { [Kind in DetailKind]: fc.Arbitrary<DetailFields<Kind>> } = {
  after: fc.constant({}),
  blocked: fc.record({ by: request, text, at: time }),
  retrying: fc.record(
    { reason: text, count: fc.integer({ min: 0, max: 4 }), next: time, until: time },
    { requiredKeys: ["reason", "count"] },
  ),
  paused: fc.record({ cause: fc.constantFrom(...PAUSE_CAUSES), until: time, reason: text, count }),
  waiting: fc.record(
    {
      requestId: request,
      asks: fc.constantFrom("permission", "question"),
      text,
      at: time,
      seen: fc.subarray([...DOORS]),
      policy: fc.record({ until: time, decision: fc.constantFrom("allow", "deny"), reason: text }),
    },
    { requiredKeys: ["requestId", "asks", "text"] },
  ),
  answered: fc.record(
    {
      requestId: request,
      reply: fc.constantFrom(...REPLIES),
      by: fc.constantFrom(...ANSWERERS),
      who: text,
      asked: text,
      text,
      at: time,
      appliedAt: time,
    },
    { requiredKeys: ["requestId", "reply", "by", "at"] },
  ),
};

const detail: fc.Arbitrary<PhaseDetail | null> = fc.oneof(
  fc.constant(null),
  ...Object.entries(details).map(([kind, fields]) =>
    (fields as fc.Arbitrary<object>).map((values) => ({ kind, ...values }) as PhaseDetail),
  ),
);

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });

const clone = fc.record({ hostname: text, remote: text, branch: text });

const after = fc.record({
  tasks: fc.array(text, { maxLength: 3 }),
  ifFailed: fc.constantFrom(...IF_FAILED),
});

const about = {
  host: text,
  directory: text,
  parentSessionId: text,
  parentMessageId: text,
  parentAgent: text,
  description: text,
  agent: text,
  model: maybe(text),
  batchId: text,
  isForked: fc.boolean(),
  wake: fc.constantFrom(...WAKES),
  after: maybe(after),
  owner: maybe(text),
  machine: text,
};

/** A task in any state, including states that `transition` never produces. */
export function anyTask(id: string): fc.Arbitrary<Task> {
  return fc.record({
    id: fc.constant(id),
    sessionId: text,
    ...about,
    status: fc.constantFrom(...STATUSES),
    phase: maybe(fc.constantFrom(...PHASES)),
    phaseDetail: detail,
    run: fc.record({
      number: run,
      prompt: text,
      messageId: text,
      startedAt: time,
      endedAt: maybe(time),
      outcome: fc.constantFrom<Run["outcome"][]>("completed", "error", "cancelled", null),
      result: maybe(text),
      error: maybe(text),
      before: anyProgress,
      pauses: maybe(fc.record({ quota: count, stall: count, waitMs: count, progress: anyProgress })),
    }),
    startedAt: time,
    completedAt: maybe(time),
    resultRetrievedAt: maybe(time),
    clearedAt: maybe(time),
    cancelRequestedAt: maybe(time),
    fence: fc.nat(),
    clone: maybe(clone),
    progress: anyProgress,
  });
}

/** Any event for the task `id`. */
export function anyTaskEvent(id: string): fc.Arbitrary<TaskEvent> {
  const newTask = fc.record({ id: fc.constant(id), sessionId: text, prompt: text, messageId: text, ...about });
  const allow = fc.subarray<Resumable[number]>(["error", "cancelled"]);
  const progress = maybe(anyProgress);
  const steeringId = fc.constantFrom("one", "two").map((name) => `${name} of ${id}`);
  const events: { [Type in TaskEventType]: fc.Arbitrary<Omit<Extract<TaskEvent, { type: Type }>, "type">> } = {
    "task.created": fc.record({ at: time, task: newTask }),
    "task.imported": fc.record({ at: time, task: anyTask(id) }),
    "task.adopted": fc.record({ at: time, owner: text }),
    "task.claimed": fc.record({
      at: time,
      run,
      owner: text,
      sessionId: text,
      directory: text,
      agent: text,
      model: maybe(text),
      messageId: text,
      clone: maybe(clone),
    }),
    "task.edited": fc.record({ at: time, run, after: maybe(after), prompt: text }),
    "task.resumed": fc.record({ at: time, prompt: text, messageId: text, owner: maybe(text), allow }),
    "run.progressed": fc.record({ at: time, run, progress: anyProgress }),
    "run.paused": fc.record({
      at: time,
      run,
      cause: fc.constantFrom(...PAUSE_CAUSES),
      until: time,
      reason: text,
      progress: anyProgress,
    }),
    "run.continued": fc.record({ at: time, run, messageId: text }),
    "run.phased": fc.record({ at: time, run, phase: fc.constantFrom(...PHASES), detail }),
    "run.completed": fc.record({ at: time, run, result: text, progress }),
    "run.failed": fc.record({ at: time, run, error: text, progress }),
    "run.cancelled": fc.record({ at: time, run, reason: text, progress }),
    "run.requeued": fc.record({ at: time, run, reason: text, progress: anyProgress }),
    "request.seen": fc.record({ at: time, run, requestId: request, by: fc.constantFrom(...DOORS) }),
    "request.applied": fc.record({ at: time, run, requestId: request }),
    "cancel.requested": fc.record({ at: time, run }),
    "steer.accepted": fc.record({ at: time, run, id: steeringId, text, by: text }),
    "steer.sent": fc.record({ at: time, run, id: steeringId, messageId: text }),
    "steer.delivered": fc.record({ at: time, run, id: steeringId }),
    "steer.failed": fc.record({ at: time, run, id: steeringId, reason: text }),
    "steer.cancelled": fc.record({ at: time, run, id: steeringId, by: text }),
    "budget.warned": fc.record({ at: time, budget: text, text }),
    "budget.used_up": fc.record({ at: time, budget: text, text }),
    "result.retrieved": fc.record({ at: time }),
    "task.cleared": fc.record({ at: time }),
  };
  return fc.oneof(
    ...Object.entries(events).map(([type, fields]) =>
      (fields as fc.Arbitrary<object>).map((values) => ({ type, ...values }) as TaskEvent),
    ),
  );
}
