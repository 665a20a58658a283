/** Arbitrary inputs of a live run, also such as nobody would ever send in its stage. */
import fc from "fast-check";
import type { TaskEvent } from "../../../src/model/events.ts";
import type { Evidence, Verdict } from "../../../src/model/evidence.ts";
import type { AbortPurpose, InspectPurpose } from "../../../src/model/live-run/effects.ts";
import type { RunInput } from "../../../src/model/live-run/inputs.ts";
import { noProgress } from "../../../src/model/progress.ts";
import { STEERING_STATES, type SteeringMessage } from "../../../src/model/steering.ts";
import type { Transition } from "../../../src/model/transition.ts";
import { anyProgress, anyTaskEvent } from "../../../src/testing/any-event.ts";
import { sampleTask } from "./walk.ts";

const text = fc.constantFrom("", "one", "two");
const request = { requestId: text, asks: fc.constantFrom("permission" as const, "question" as const), text };
const ruling = fc.record({
  decision: fc.constantFrom("allow" as const, "deny" as const),
  reason: text,
  afterMs: fc.constantFrom(0, 5, 1_000_000),
});
const asked = { ...request, ruling: fc.option(ruling, { nil: null }) };
const answered = fc.record({
  kind: fc.constant("answered" as const),
  requestId: text,
  reply: fc.constant("rejected" as const),
  by: fc.constant("policy" as const),
  at: fc.nat(),
});
/** Close and far away. */
const someTime = fc.constantFrom(0, 1_000, 50_000_000, 1e18);
const retrying = { reason: text, count: fc.nat({ max: 30 }), next: someTime, until: someTime };
const anyRetrying = fc.record(retrying, { requiredKeys: ["reason", "count"] });

export const anyEvidence: fc.Arbitrary<Evidence> = fc.record({
  prompted: fc.boolean(),
  answer: fc.option(fc.record({ text }), { nil: null }),
  error: fc.option(
    fc.record(
      { message: text, aborted: fc.boolean(), until: fc.option(someTime, { nil: null }) },
      { requiredKeys: ["message", "aborted"] },
    ),
    { nil: null },
  ),
  begun: fc.boolean(),
  unfinished: fc.boolean(),
  worked: fc.boolean(),
  stoppedAt: fc.option(fc.record({ tool: text, message: text }), { nil: null }),
  progress: fc.oneof(fc.constant(noProgress(0)), anyProgress),
  taken: fc.subarray(["m1", "m2"]),
});

const anyVerdict: fc.Arbitrary<Verdict> = fc.oneof(
  fc.record({ outcome: fc.constant("error" as const), error: text }),
  fc.record({ outcome: fc.constant("cancelled" as const), reason: text }),
);

const anyInspectPurpose: fc.Arbitrary<InspectPurpose> = fc.oneof(
  fc.constantFrom("search", "hint", "steering", "usage", "pause").map((name) => ({ name })),
  fc.record({ name: fc.constant("status" as const), askedAt: fc.nat() }),
  fc.record({ name: fc.constant("host.ended" as const), reason: text }),
);

const anyAbortPurpose: fc.Arbitrary<AbortPurpose> = fc.oneof(
  fc.record({ name: fc.constantFrom("abandon" as const, "deleted" as const, "pause" as const) }),
  fc.record({
    name: fc.constant("stop" as const),
    attempt: fc.record({ number: fc.nat({ max: 3 }), verdict: anyVerdict }),
  }),
);

const anyOutcome: fc.Arbitrary<Transition> = fc.oneof(
  fc.constant({ changed: true as const, task: sampleTask(), notice: null }),
  fc.constantFrom("no_change" as const, "ended" as const, "other_owner" as const).map((reason) => {
    return { changed: false as const, task: sampleTask(), reason };
  }),
);

const anyWritten: fc.Arbitrary<TaskEvent> = anyTaskEvent("task").filter(({ type }) => type.startsWith("run."));

const steeringId = fc.constantFrom("s1", "s2");
const steeringMessageId = fc.constantFrom("m1", "m2");

const anySteeringMessage: fc.Arbitrary<SteeringMessage> = fc.record({
  id: steeringId,
  taskId: fc.constant("task"),
  run: fc.constant(0),
  text,
  by: text,
  state: fc.constantFrom(...STEERING_STATES),
  messageId: fc.option(steeringMessageId, { nil: null }),
  reason: fc.constant(null),
  acceptedAt: fc.nat(),
  sentAt: fc.constant(null),
  settledAt: fc.constant(null),
});

type Fields<Type> = Omit<Extract<RunInput, { type: Type }>, "type">;

const inputs: { [Type in RunInput["type"]]: fc.Arbitrary<Fields<Type>> } = {
  "turn.delayed": fc.constant({}),
  "turn.came": fc.constant({}),
  "session.idle": fc.constant({}),
  "session.working": fc.constant({}),
  "session.failed": fc.record({ error: text, aborted: fc.boolean() }),
  "session.deleted": fc.constant({}),
  "prompt.seen": fc.constant({}),
  "other.taken": fc.constant({}),
  "steering.read": fc.record({ messages: fc.array(anySteeringMessage, { maxLength: 2 }) }),
  "steer.sending": fc.record({ id: steeringId, messageId: steeringMessageId }),
  "steer.arrived": fc.record({ id: steeringId }),
  "steer.refused": fc.record({ id: steeringId, error: text }),
  "steer.unanswered": fc.record({ id: steeringId }),
  "steer.dropped": fc.record({ id: steeringId }),
  "session.retrying": anyRetrying,
  "session.asked": fc.record(asked),
  "session.answered": fc.record({
    requestIds: fc.array(text, { maxLength: 2 }),
    answer: fc.option(answered, { nil: null }),
  }),
  "tool.ended": fc.record({ callId: text, isFailed: fc.boolean() }),
  "tool.called": fc.record({ sessionId: text, callId: text, name: text, input: fc.constantFrom({}, undefined, 1n) }),
  "usage.counted": anyProgress.map(({ tokens, cost }) => ({ messageId: "m", tokens, cost })),
  "cost.reported": fc.record({ cost: fc.nat() }),
  "text.written": fc.constant({}),
  "host.ended": fc.record({ reason: text }),
  "request.found": fc.record(asked),
  "status.read": fc.record({
    status: fc.oneof(
      fc.constantFrom(null, { state: "busy" as const }),
      anyRetrying.map((values) => ({ state: "retrying" as const, ...values })),
    ),
    askedAt: fc.constantFrom(0, Number.MAX_SAFE_INTEGER),
  }),
  "poll.done": fc.record({ isWaiting: fc.boolean() }),
  woken: fc.record({ name: fc.constantFrom("save" as const, "search" as const) }),
  cancel: fc.record({ reason: text }),
  "budgets.read": fc.record({
    budgets: fc.constantFrom(null, { isTimed: false }, { isTimed: true }),
    breach: fc.option(text, { nil: null }),
  }),
  interrupt: fc.record({ error: text }),
  lose: fc.constant({}),
  condensed: fc.constant({}),
  "condense.failed": fc.record({ error: text }),
  "prompt.sending": fc.constant({}),
  "prompt.accepted": fc.constant({}),
  "prompt.refused": fc.record({ error: text }),
  "prompt.unanswered": fc.record({ error: text }),
  inspected: fc.record({ purpose: anyInspectPurpose, evidence: anyEvidence }),
  "inspect.failed": fc.record({ purpose: anyInspectPurpose, isGone: fc.boolean() }),
  aborted: fc.record({ purpose: anyAbortPurpose }),
  "abort.failed": fc.record({ purpose: anyAbortPurpose, isGone: fc.boolean(), error: text }),
  continued: fc.constant({}),
  "continue.failed": fc.constant({}),
  ruled: fc.record({
    request: fc.record({ kind: fc.constant("waiting" as const), ...request }),
    isTaken: fc.boolean(),
  }),
  written: fc.record({ event: anyWritten, outcome: anyOutcome }),
  "write.failed": fc.record({ event: anyWritten }),
};

export const anyInput: fc.Arbitrary<RunInput> = fc.oneof(
  ...Object.entries(inputs).map(([type, fields]) =>
    (fields as fc.Arbitrary<object>).map((values) => ({ type, ...values }) as RunInput),
  ),
);
