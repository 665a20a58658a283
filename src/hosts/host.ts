/**
 * The seam to a program that runs agents. A host creates sessions, prompts them and shows what they did; it makes no
 * decisions about tasks. A host omits the methods that it does not support, and callers get `host_unsupported`. Calls
 * reject with AsyncAgentsError: `session_gone` if the session does not exist, otherwise `host_failed`, with
 * `details.refused` if the host itself rejected the call. Without it, a failed call may still have had its effect.
 */
import type { ReplyWord } from "../model/answer.ts";
import type { CondenseLimits } from "../model/condense.ts";
import { AsyncAgentsError } from "../model/errors.ts";
import type { Evidence } from "../model/evidence.ts";
import type { Message } from "../model/message.ts";
import type { Tokens } from "../model/progress.ts";
import type { AskedTool } from "../model/request-policy.ts";

export interface StartInput {
  /** Empty if a person launches: then the session has no parent. */
  parentSessionId: string;
  parentAgent: string;
  title: string;
  agent: string;
  /** `provider/model`, or null for the agent's default. */
  model: string | null;
  /** Identifies the session after a crash between creating the session and storing the task. */
  launchId: string;
  /**
   * Tools that the session must not have: those that launch tasks, if the session is too deeply nested to launch more.
   */
  denyTools: readonly string[];
}

export interface PromptInput {
  /** Chosen by the caller, so that the run's prompt can be told apart from other messages. */
  messageId: string;
  text: string;
  agent: string;
  model: string | null;
  /**
   * Maximum cost of the run in dollars, for a host that reports the cost only at the end and must enforce the limit
   * itself.
   */
  maxCost?: number | null;
}

/** A message into a session at work. */
export interface SteerInput extends Pick<PromptInput, "messageId" | "text" | "agent" | "model"> {}

export interface NotifyInput {
  messageId: string;
  /** Shown to the person. */
  visible: string;
  /** Visible to the model only. */
  hidden: string;
  /** If false, the message is added without starting a turn. */
  wake: boolean;
  agent: string | null;
  model: string | null;
  variant: string | null;
}

export interface ForkInput extends StartInput {
  /** The message that made the call: it and everything after it are left out. Empty for the whole history. */
  untilMessageId: string;
}

export interface AgentInfo {
  name: string;
  description: string | null;
  model: string | null;
}

export interface MessagePage {
  /** Oldest first. */
  messages: Message[];
  /** A cursor for the page before this one; null if this is the first. */
  before: string | null;
}

export type HostEvent =
  | { type: "session.idle"; sessionId: string }
  | { type: "session.working"; sessionId: string }
  | { type: "session.failed"; sessionId: string; error: string; aborted: boolean }
  | ({ type: "session.retrying"; sessionId: string } & HostRetry)
  | ({ type: "session.asked" } & Omit<OpenRequest, "above">)
  /** The request is closed. Without a reply: it was withdrawn, or the answer is not known. */
  | { type: "session.answered"; sessionId: string; requestId: string; reply?: ReplyWord }
  | { type: "session.opened"; sessionId: string; parentSessionId: string }
  | { type: "session.deleted"; sessionId: string }
  /** May be repeated for one call. `input`: the arguments, in the host's own format. */
  | { type: "tool.called"; sessionId: string; callId: string; name: string; input: unknown }
  /** May be repeated, and may be missing where a run is stopped in the middle of a call. */
  | { type: "tool.ended"; sessionId: string; callId: string; isFailed: boolean }
  | ({ type: "usage.counted"; sessionId: string; messageId: string } & UsageCounted)
  /** What the run has cost in all, from a host that does not know the costs of messages. */
  | { type: "cost.reported"; sessionId: string; cost: number }
  /** The agent wrote text; prompts do not count. */
  | { type: "text.written"; sessionId: string }
  /** A user message was added to the session; the model has not started to answer it. */
  | { type: "message.added"; sessionId: string; messageId: string }
  /** The model started to answer that message. */
  | { type: "message.taken"; sessionId: string; messageId: string }
  /**
   * The program behind the host exited, and everything that was running in it ended. Its sessions may come back when it
   * restarts.
   */
  | { type: "host.ended"; reason: string };

export interface UsageCounted {
  tokens: Tokens;
  /** 0 if the host does not know it (yet). */
  cost: number;
  /** As in `PromptInput`, or without its provider. */
  model?: string;
  /** The user message that is answered, from a host whose events may come when the session has its next run already. */
  answers?: string;
}

/** A person's reply to a request of a session. */
export type Reply =
  /** With a message, a rejection is passed to the agent, which continues; without one it ends the run. */
  | { kind: "permission"; decision: "once" | "always" | "reject"; message: string | null }
  /** One answer per question, in order; null if the questions are declined. */
  | { kind: "question"; answers: readonly string[] | null };

const DECISIONS = { once: "allowed once", always: "always allowed", reject: "rejected" } as const;

export function replyWord(reply: Reply): ReplyWord {
  if (reply.kind === "permission") return DECISIONS[reply.decision];
  return reply.answers === null ? "turned down" : "answered";
}

/** What a reply says to the agent in words; null if nothing. */
export function replyText(reply: Reply): string | null {
  if (reply.kind === "permission") return reply.message ?? null;
  return reply.answers?.join("; ") ?? null;
}

/** A request of a session that has not been answered. */
export interface OpenRequest {
  sessionId: string;
  /** Its ancestor sessions, nearest first. */
  above: readonly string[];
  requestId: string;
  asks: Reply["kind"];
  text: string;
  /** What a permission is for; absent if that is not known. */
  tool?: AskedTool;
}

export type HostStatus = { state: "busy" } | ({ state: "retrying" } & HostRetry);

/** The provider failed, and the host tries again by itself. Times are milliseconds since the epoch. */
export interface HostRetry {
  reason: string;
  count: number;
  /** When it tries again, if it says so. */
  next?: number;
  /** When the provider said that it will be back, if it did. A host that only waits longer each time leaves it out. */
  until?: number;
}

export interface Host {
  readonly kind: string;
  /** The agent that is used if none is named. */
  readonly defaultAgent: string;
  /**
   * Creates a session for a task; returns its id, unique among all hosts: it becomes the id of the task. The session
   * outlives this process.
   */
  start(input: StartInput): Promise<string>;
  /** Sends a prompt; resolves once the host has accepted it. */
  prompt(sessionId: string, input: PromptInput): Promise<void>;
  /** Stops the session and the sessions that it opened itself. Does nothing if the session is idle. */
  abort(sessionId: string): Promise<void>;
  /**
   * Returns what the session shows about the run that began with this message. `steering`: the ids of the messages that
   * were sent into the run meanwhile; the turns that they caused are part of it.
   */
  inspect(sessionId: string, runMessageId: string, steering?: readonly string[]): Promise<Evidence>;
  /** All sessions of this instance that are not idle, in a single call. */
  statuses(): Promise<Map<string, HostStatus>>;
  messages(sessionId: string, page: { limit: number; before: string | null }): Promise<MessagePage>;
  exists(sessionId: string): Promise<boolean>;
  /** Finds an agent by name; null if there is none. */
  agent(name: string): Promise<AgentInfo | null>;
  agents(): Promise<AgentInfo[]>;
  /** Calls back in order of arrival. Returns a function that unsubscribes. */
  onEvent(listener: (event: HostEvent) => void): () => void;
  /** A message id in this host's format that sorts after all earlier ones. */
  newMessageId(): string;
  /** Finds the sessions of a launch. */
  findLaunched?(launch: { launchId: string; parentSessionId: string; at: number }): Promise<string | null>;
  /** Creates a session with the parent's history; returns its id before the history is condensed. */
  fork?(input: ForkInput): Promise<string>;
  /** Condenses a fork's history to the limits and tells the agent about it. */
  condense?(sessionId: string, limits: CondenseLimits): Promise<void>;
  /** All open requests of this instance's sessions; needed because events may get lost. */
  requests?(): Promise<OpenRequest[]>;
  /** Answers a request of a session or of one of its descendants; false if no such request is open. */
  answer?(sessionId: string, requestId: string, reply: Reply): Promise<boolean>;
  /**
   * Adds a message to a parent's session; resolves once it has arrived. Sending the same id again replaces the message.
   */
  notify?(sessionId: string, input: NotifyInput): Promise<void>;
  /**
   * Adds a message to a session at work; resolves once it is there. The agent reads it at its next step. It starts no
   * turn: in a session that is idle by then it stays unread. Sending the same id again replaces the message.
   */
  steer?(sessionId: string, input: SteerInput): Promise<void>;
  /** Whether the session holds this complete message. */
  hasMessage?(sessionId: string, messageId: string): Promise<boolean>;
}

/** Whether a failed call certainly had no effect: the host rejected it, or was never reached. */
export function isRefusal(thrown: unknown): boolean {
  if (!AsyncAgentsError.isInstance(thrown)) return false;
  return thrown.code !== "host_failed" || thrown.details.refused === true;
}

export function isSessionGone(thrown: unknown): boolean {
  return AsyncAgentsError.isInstance(thrown) && thrown.code === "session_gone";
}

/** Splits `provider/model`; null if the text has another form. */
export function splitModel(model: string | null): { providerID: string; modelID: string } | null {
  const slash = model?.indexOf("/") ?? -1;
  if (!model || slash <= 0) return null;
  return { providerID: model.slice(0, slash), modelID: model.slice(slash + 1) };
}
