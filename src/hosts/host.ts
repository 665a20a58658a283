/**
 * The seam to a program that runs agents. A host makes sessions, prompts them and shows what they did; it decides
 * nothing about tasks. What a host cannot do, it leaves out, and callers get `host_unsupported`.
 * Calls reject with AsyncAgentsError: `session_gone` where the session does not exist, `host_failed` otherwise, with
 * `details.refused` where the host itself said no. Without it, a call that failed may still have had its effect.
 */
import type { ReplyWord } from "../model/answer.ts";
import type { CondenseLimits } from "../model/condense.ts";
import { AsyncAgentsError } from "../model/errors.ts";
import type { Evidence } from "../model/evidence.ts";
import type { Message } from "../model/message.ts";
import type { Tokens } from "../model/progress.ts";

export interface StartInput {
  /** Empty where a person launches: then the session has no parent. */
  parentSessionId: string;
  parentAgent: string;
  title: string;
  agent: string;
  /** `provider/model`, or null for the agent's own. */
  model: string | null;
  /** Found again on the session after a crash between its making and the task's row. */
  launchId: string;
  /** Tools that the session must not have: those that launch tasks, once it is deep enough; empty where it may. */
  denyTools: readonly string[];
}

export interface PromptInput {
  /** Fixed by the caller, so that the run's own prompt can be told from any other message. */
  messageId: string;
  text: string;
  agent: string;
  model: string | null;
  /** The most that the run may cost, in dollars: for a host that tells the cost at the end only, and so must hold it itself. */
  maxCost?: number | null;
}

export interface NotifyInput {
  messageId: string;
  /** Shown to the person. */
  visible: string;
  /** Only for the model. */
  hidden: string;
  /** False: the message is added, and no turn starts. */
  wake: boolean;
  agent: string | null;
  model: string | null;
  variant: string | null;
}

export interface ForkInput extends StartInput {
  /** The message that made the call: it and what follows are left out. Empty: the whole history. */
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
  /** Give it back to read the page before this one; null at the beginning. */
  before: string | null;
}

export type HostEvent =
  | { type: "session.idle"; sessionId: string }
  | { type: "session.working"; sessionId: string }
  | { type: "session.failed"; sessionId: string; error: string; aborted: boolean }
  | { type: "session.retrying"; sessionId: string; reason: string; count: number }
  | { type: "session.asked"; sessionId: string; requestId: string; asks: "permission" | "question"; text: string }
  /** The request is over; without a reply nobody knows how, or it was withdrawn. */
  | { type: "session.answered"; sessionId: string; requestId: string; reply?: ReplyWord }
  | { type: "session.opened"; sessionId: string; parentSessionId: string }
  | { type: "session.deleted"; sessionId: string }
  /** May come more than once for a call. `input`: what it was called with, as its host has it. */
  | { type: "tool.called"; sessionId: string; callId: string; name: string; input: unknown }
  | { type: "usage.counted"; sessionId: string; messageId: string; tokens: Tokens; cost: number }
  /** The agent wrote something; its prompt is not that. */
  | { type: "text.written"; sessionId: string }
  /** A user message is in the session; the model has not answered it yet. */
  | { type: "message.added"; sessionId: string; messageId: string }
  /** The model began to answer that message. */
  | { type: "message.taken"; sessionId: string; messageId: string }
  /** The program behind the host is gone, and with it everything that was at work. Its sessions may come back with it. */
  | { type: "host.ended"; reason: string };

/** What somebody says to what a session asked. */
export type Reply =
  /** A refusal with a message tells the agent, which goes on; one without ends the run. */
  | { kind: "permission"; decision: "once" | "always" | "reject"; message: string | null }
  /** One answer for each question, in their order; null: the question is turned down. */
  | { kind: "question"; answers: readonly string[] | null };

const DECISIONS = { once: "allowed once", always: "always allowed", reject: "rejected" } as const;

export function replyWord(reply: Reply): ReplyWord {
  if (reply.kind === "permission") return DECISIONS[reply.decision];
  return reply.answers === null ? "turned down" : "answered";
}

/** What a session asked for and nobody has answered yet. */
export interface OpenRequest {
  sessionId: string;
  /** The sessions above it, the nearest first. */
  above: readonly string[];
  requestId: string;
  asks: Reply["kind"];
  text: string;
}

export type HostStatus = { state: "busy" } | { state: "retrying"; reason: string; count: number };

export interface Host {
  readonly kind: string;
  /** The agent that works where none is named. */
  readonly defaultAgent: string;
  /** Makes a session for a task; gives its id. */
  start(input: StartInput): Promise<string>;
  /** Hands a prompt over; resolves once the host has taken it. */
  prompt(sessionId: string, input: PromptInput): Promise<void>;
  /** Ends what the session does, and the sessions that it opened itself. Not an error when it does nothing. */
  abort(sessionId: string): Promise<void>;
  /** What the session shows about the run that began with this message. */
  inspect(sessionId: string, runMessageId: string): Promise<Evidence>;
  /** The sessions of this instance that are not idle: one call, however many there are. */
  statuses(): Promise<Map<string, HostStatus>>;
  messages(sessionId: string, page: { limit: number; before: string | null }): Promise<MessagePage>;
  /** Whether the session exists. */
  exists(sessionId: string): Promise<boolean>;
  /** One agent by its name; null where there is none. */
  agent(name: string): Promise<AgentInfo | null>;
  agents(): Promise<AgentInfo[]>;
  /** Calls back in order of arrival. Returns the way to stop. */
  onEvent(listener: (event: HostEvent) => void): () => void;
  /** A message id of this host's form that sorts after all those made before. */
  newMessageId(): string;
  /** Sessions that carry one of these launch ids. */
  findLaunched?(launch: { launchId: string; parentSessionId: string; at: number }): Promise<string | null>;
  /** Makes a session with the parent's history; gives its id before the history is cut. */
  fork?(input: ForkInput): Promise<string>;
  /** Cuts a fork's history to the limits and tells the agent so. */
  condense?(sessionId: string, limits: CondenseLimits): Promise<void>;
  /** Everything that the sessions of this instance ask for: events may get lost. */
  requests?(): Promise<OpenRequest[]>;
  /** Answers what a session, or one below it, asked; false where nothing of that id is open. */
  answer?(sessionId: string, requestId: string, reply: Reply): Promise<boolean>;
  /** Adds a message to a parent's session; resolves once it is there. The same id again replaces it. */
  notify?(sessionId: string, input: NotifyInput): Promise<void>;
  /** Whether the session holds this message of ours, whole. */
  hasMessage?(sessionId: string, messageId: string): Promise<boolean>;
}

/** Whether a failed call had no effect for certain: the host said no, or was never reached. */
export function isRefusal(thrown: unknown): boolean {
  if (!AsyncAgentsError.isInstance(thrown)) return false;
  return thrown.code !== "host_failed" || thrown.details.refused === true;
}

/** The model of a string `provider/model`; null where it has no such form. */
export function splitModel(model: string | null): { providerID: string; modelID: string } | null {
  const slash = model?.indexOf("/") ?? -1;
  if (!model || slash <= 0) return null;
  return { providerID: model.slice(0, slash), modelID: model.slice(slash + 1) };
}
