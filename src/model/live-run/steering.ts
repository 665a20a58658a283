/**
 * What is said to a run at work: sent in order, one at a time, and again with the same id where it is not known whether
 * it arrived. Pure. Invariants: a message counts as delivered only on evidence that the agent took it up, and a run
 * does not end on a mere hint while one is on its way.
 */
import type { Evidence } from "../evidence.ts";
import type { SteeringMessage } from "../steering.ts";
import { type RunStep, then, unchanged } from "./effects.ts";
import type { SteeringInput } from "./inputs.ts";
import { isWanted, type LiveRun } from "./live-run.ts";
import type { Moment } from "./moment.ts";

export interface Steered {
  /** Its id in the session, once it is fixed. */
  readonly messageId: string | null;
  readonly text: string;
  /**
   * `held`: to be sent. `unsure`: perhaps it arrived. `there`: the host has it. `taken`: the agent took it up, which is
   * being written. `delivered`: that is stored. `refused`: the host does not take it.
   */
  readonly state: "held" | "sending" | "unsure" | "there" | "taken" | "delivered" | "refused";
  /** An earlier call may have brought it there: a host that refuses it now proves nothing. */
  readonly isRepeated: boolean;
  /** Why the host does not take it, until that is stored. */
  readonly refusal: string | null;
  /** The run was paused since: it is in the session before the newest prompt, whose answer takes it up. */
  readonly isBeforePrompt: boolean;
}

const NEW = { messageId: null, isRepeated: false, refusal: null, isBeforePrompt: false };

/** The ids of its steering messages in the session: what follows them is part of the run. */
export function steeringIds({ steering }: LiveRun): string[] {
  return [...steering.values()].flatMap(({ messageId }) => messageId ?? []);
}

/** Whether something that was said to it is not known to have been taken up. */
export function isSteered({ steering }: LiveRun): boolean {
  return steering.values().some(({ state }) => state !== "delivered" && state !== "refused");
}

export function steer(run: LiveRun, input: SteeringInput, at: Moment): RunStep {
  switch (input.type) {
    case "steering.read":
      return unchanged({ ...run, steering: merged(run.steering, input.messages) });
    case "steer.sending":
      return unchanged(put(run, input.id, { messageId: input.messageId }));
    case "steer.arrived": {
      // A status call from before says nothing about what the agent does with it.
      const { stage } = run;
      const seen = stage.name === "working" ? { ...run, stage: { ...stage, workSeenAt: at.awake, idle: null } } : run;
      return unchanged(stateOf(run, input.id) === "sending" ? put(seen, input.id, { state: "there" }) : run);
    }
    case "steer.unanswered":
      return unchanged(
        stateOf(run, input.id) === "sending" ? put(run, input.id, { state: "unsure", isRepeated: true }) : run,
      );
    case "steer.refused": {
      const { id, error: refusal } = input;
      if (stateOf(run, id) !== "sending") return unchanged(run);
      if (run.steering.get(id)?.isRepeated) return unchanged(put(run, id, { state: "unsure" }));
      return writeRefusals(put(run, id, { state: "refused", refusal }), [id], at);
    }
    case "steer.dropped":
      return unchanged(without(run, input.id));
  }
}

/**
 * What the store has, and this process does not know yet. What an earlier process sent may have arrived; it is sent
 * again before what was said after it.
 */
function merged(known: LiveRun["steering"], messages: readonly SteeringMessage[]): LiveRun["steering"] {
  const steering = new Map(known);
  for (const { id, state, messageId, text } of messages) {
    const isHeld = steering.get(id)?.state === "held";
    if (state === "cancelled" && isHeld) steering.delete(id);
    if (steering.has(id)) continue;
    if (state === "accepted") steering.set(id, { ...NEW, text, state: "held" });
    else if (state === "sent") steering.set(id, { ...NEW, messageId, text, state: "held", isRepeated: true });
    else if (state === "delivered") steering.set(id, { ...NEW, messageId, text, state });
  }
  return steering;
}

/** Sends the next message, if the run is at work and none is on its way. */
export function sendNext(step: RunStep): RunStep {
  const { run, effects } = step;
  if (run.stage.name !== "working" || !isWanted(run) || run.isHostDead) return step;
  if (run.steering.values().some(({ state }) => state === "sending")) return step;
  const [id] = [...run.steering].find(([, { state }]) => state === "held") ?? [];
  if (id === undefined) return step;
  return { run: put(run, id, { state: "sending" }), effects: [...effects, { type: "steer", id }] };
}

/**
 * A poll: what perhaps did not arrive is sent again, a message that was taken up unseen is looked for, and a refusal
 * that could not be stored is written again.
 */
export function steerAgain(run: LiveRun, at: Moment): RunStep {
  if (run.cancelReason !== null || !isWanted(run)) return unchanged(run);
  const all = [...run.steering];
  const unsure = all.filter(([, { state }]) => state === "unsure");
  const again = unsure.reduce((next, [id]) => put(next, id, { state: "held" }), run);
  const refused = all.flatMap(([id, { refusal }]) => (refusal === null ? [] : [id]));
  return then(writeRefusals(again, refused, at), lookForTaken);
}

function writeRefusals(run: LiveRun, ids: readonly string[], { wall }: Moment): RunStep {
  const effects = ids.map((id) => {
    const reason = run.steering.get(id)?.refusal ?? "";
    return { type: "write", event: { type: "steer.failed", at: wall, run: run.number, id, reason } } as const;
  });
  return { run, effects };
}

/** The agent took up another message than the prompt. */
export function lookForTaken(run: LiveRun): RunStep {
  const isThere = run.steering.values().some(({ state }) => state === "there");
  if (!isThere || run.stage.name !== "working" || run.ending !== null) return unchanged(run);
  return { run, effects: [{ type: "inspect", purpose: { name: "steering" } }] };
}

/** The run goes on with another prompt: what the host has of before is read with that one. */
export function behindPrompt(steering: LiveRun["steering"]): LiveRun["steering"] {
  return new Map([...steering].map(([id, each]) => [id, { ...each, isBeforePrompt: each.state === "there" }]));
}

/** Writes the receipts of what the session shows as taken up. */
export function deliver(run: LiveRun, { taken, begun }: Evidence, at: Moment): RunStep {
  const found = [...run.steering].filter(([, { messageId, state, isBeforePrompt }]) => {
    if (messageId === null || state === "taken" || state === "delivered") return false;
    return taken.includes(messageId) || (isBeforePrompt && state === "there" && begun);
  });
  const steering = found.reduce((next, [id]) => put(next, id, { state: "taken" }), run);
  const effects = found.map(([id]) => {
    const event = { type: "steer.delivered", at: at.wall, run: run.number, id } as const;
    return { type: "write", event } as const;
  });
  return { run: steering, effects };
}

/** A receipt is stored. If the session was idle by then, the run may be over. */
export function receiptWritten(run: LiveRun, id: string): RunStep {
  if (stateOf(run, id) === "refused") return unchanged(put(run, id, { refusal: null }));
  const next = put(run, id, { state: "delivered" });
  const isIdle = next.idleHeardAt !== null && next.stage.name === "working" && next.ending === null;
  return { run: next, effects: isIdle ? [{ type: "inspect", purpose: { name: "hint" } }] : [] };
}

/** A receipt could not be stored: the next poll writes it again. */
export function receiptNotWritten(run: LiveRun, id: string): LiveRun {
  return stateOf(run, id) === "taken" ? put(run, id, { state: "there" }) : run;
}

function stateOf({ steering }: LiveRun, id: string): Steered["state"] | undefined {
  return steering.get(id)?.state;
}

function put(run: LiveRun, id: string, change: Partial<Steered>): LiveRun {
  const known = run.steering.get(id);
  return known === undefined ? run : { ...run, steering: new Map(run.steering).set(id, { ...known, ...change }) };
}

function without(run: LiveRun, id: string): LiveRun {
  return { ...run, steering: new Map([...run.steering].filter(([other]) => other !== id)) };
}
