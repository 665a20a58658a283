/**
 * Everything that can happen to a live run, as data: what hosts report, what polls and timers find, what people want,
 * and what came of the effects. Inputs may be lost, repeated and reordered. Session events have the names that hosts
 * use.
 */
import type { TaskEvent } from "../events.ts";
import type { Evidence } from "../evidence.ts";
import type { Ruling } from "../request-policy.ts";
import type { SteeringMessage } from "../steering.ts";
import type { RetryingDetail } from "../task.ts";
import type { Transition } from "../transition.ts";
import type { WorkReport } from "./activity.ts";
import type { AbortPurpose, InspectPurpose, WakeName } from "./effects.ts";
import type { Answered, Waiting } from "./live-run.ts";

export type RunInput =
  | TurnInput
  | OwnSessionInput
  | SessionTreeInput
  /** The program behind the host is gone, and with it everything that was at work. */
  | { type: "host.ended"; reason: string }
  | PollInput
  | { type: "woken"; name: WakeName }
  | CommandInput
  | SteeringInput
  | ResultInput;

/** Its turn: all slots are taken; there is a slot, and no launch is under way. */
type TurnInput = { type: "turn.delayed" } | { type: "turn.came" };

/**
 * Events of the run's own session. `prompt.seen`: the prompt's message was added, or the model took it up.
 * `other.taken`: the model took up another message, ours or a person's.
 */
export type OwnSessionInput =
  | { type: "session.idle" }
  | { type: "session.working" }
  | { type: "session.failed"; error: string; aborted: boolean }
  | { type: "session.deleted" }
  | { type: "prompt.seen" }
  | { type: "other.taken" };

/** Events of the run's own session or of one below it. */
export type SessionTreeInput =
  | ({ type: "session.retrying" } & Retrying)
  | ({ type: "session.asked" } & Request)
  /** `answer`: who answered what, where that is known. */
  | { type: "session.answered"; requestIds: readonly string[]; answer: Answered | null }
  | WorkReport;

/** `ruling`: what a written rule says about it. */
type Request = Pick<Waiting, "requestId" | "asks" | "text"> & { ruling?: Ruling | null };

/** What a poll found. */
export type PollInput =
  /** An open request, possibly known already. */
  | ({ type: "request.found" } & Request)
  /** Null: the host did not list the session among those that are not idle. `askedAt`: when the call was made. */
  | { type: "status.read"; status: SessionStatus | null; askedAt: number }
  /**
   * The poll is over. `isWaiting`: for tasks that the run launched, or until its budgets allow its next request; so it
   * may be quiet.
   */
  | { type: "poll.done"; isWaiting: boolean };

type SessionStatus = { state: "busy" } | ({ state: "retrying" } & Retrying);

/** `next`: when the host tries again. `until`: when the provider said that it will be back. */
type Retrying = Omit<RetryingDetail, "kind">;

type CommandInput =
  /** The budgets that the task counts in, if any, and why it must stop for them. */
  | { type: "budgets.read"; budgets: { isTimed: boolean } | null; breach: string | null }
  | { type: "cancel"; reason: string }
  /** This process ends: the run ends with this error, or as it was about to end. */
  | { type: "interrupt"; error: string }
  /** The store says that the run is not this process's any more. */
  | { type: "lose" };

/** What the store has for the run, and what came of sending it. */
export type SteeringInput =
  | { type: "steering.read"; messages: readonly SteeringMessage[] }
  /** Its id in the session is stored: from now on it may arrive. */
  | { type: "steer.sending"; id: string; messageId: string }
  | { type: "steer.arrived"; id: string }
  /** The host certainly did not take it, or cannot take any. */
  | { type: "steer.refused"; id: string; error: string }
  /** The call failed, or was not made: the next poll sends it again. */
  | { type: "steer.unanswered"; id: string }
  /** It is not to be sent any more. */
  | { type: "steer.dropped"; id: string };

/** What came of an effect. */
export type ResultInput =
  | { type: "condensed" }
  | { type: "condense.failed"; error: string }
  /** It leaves now: it may have waited for a lease or for budgets. */
  | { type: "prompt.sending" }
  | { type: "prompt.accepted" }
  /** The host certainly did not take it. */
  | { type: "prompt.refused"; error: string }
  /** The call failed, and nobody knows whether the prompt arrived. */
  | { type: "prompt.unanswered"; error: string }
  | { type: "inspected"; purpose: InspectPurpose; evidence: Evidence }
  | { type: "inspect.failed"; purpose: InspectPurpose; isGone: boolean }
  | { type: "aborted"; purpose: AbortPurpose }
  | { type: "abort.failed"; purpose: AbortPurpose; isGone: boolean; error: string }
  /** The id of the prompt with which a paused run goes on is stored. */
  | { type: "continued" }
  | { type: "continue.failed" }
  /** Whether the host took the answer of a rule. */
  | { type: "ruled"; request: Waiting; isTaken: boolean }
  | { type: "written"; event: TaskEvent; outcome: Transition }
  | { type: "write.failed"; event: TaskEvent };
