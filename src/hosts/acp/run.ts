/**
 * One run: starts the agent's process, opens its session, prompts it, follows it to the end of its turn, and ends the
 * process. Invariant: however it goes, `perform` resolves with how the run ended, once nothing of the agent's processes
 * is left; a request to stop is followed by a kill if the agent does not end its turn in time. What comes before the
 * prompt is the replay of an earlier session, and is not part of the run.
 */
import { existsSync } from "node:fs";
import { AsyncAgentsError } from "../../model/errors.ts";
import { pause } from "../../process/deadline.ts";
import { type HostEvent, type PromptInput, type Reply, replyWord } from "../host.ts";
import type { AcpAgent } from "./agents/agent-table.ts";
import { bounded } from "./bounded-update.ts";
import { AgentConnection } from "./connection.ts";
import { AgentGone, AgentRefusal } from "./connection-errors.ts";
import { type AgentCommand, AgentProcess } from "./process.ts";
import { type AcpRequests, type AskingRun, CANCELLED } from "./requests.ts";
import { RunView, type Seen } from "./run-view.ts";
import { type OpenedSession, openAgentSession, openNew } from "./session-opening.ts";
import { answerId } from "./transcript.ts";
import type { TranscriptFiles } from "./transcript-files.ts";
import type { AcpIdentity, AcpRunEnd, TranscriptLine } from "./transcript-lines.ts";
import { costSince, endOfRun, type Stop } from "./verdict.ts";
import { type AcpElicitation, type AcpPermission, type AcpPromptResult, type AcpUpdate, updateOf } from "./wire.ts";

/** How long an agent may take to end its turn after it was told to. */
const CANCEL_MS = 5_000;
/** For an agent to exit by itself after its input was closed; it may still be saving its session. */
const EXIT_MS = 2_000;
const CLOSE_MS = 300;
/** A replay is over when nothing came for this long. */
const REPLAY_QUIET_MS = 120;
const REPLAY_MS = 5_000;

export interface RunContext {
  sessionId: string;
  directory: string;
  identity: AcpIdentity;
  agent: AcpAgent;
  command: AgentCommand;
  /** The earlier runs of the session. */
  runs: readonly RunView[];
  transcripts: TranscriptFiles;
  requests: AcpRequests;
  emit(event: HostEvent): void;
  /** How long an agent may be silent, without anybody being asked. */
  silentMs: number;
  version: string;
}

type RunLine = Exclude<TranscriptLine, { type: "session" }>;

export class AcpRun implements AskingRun {
  readonly sessionId: string;
  readonly directory: string;
  readonly asksInPermissions: boolean;
  readonly #context: RunContext;
  readonly #input: PromptInput;
  readonly #view: RunView;
  readonly #results: AcpPromptResult[] = [];
  #process: AgentProcess | null = null;
  #connection: AgentConnection | null = null;
  #agentSession = "";
  #isPrompted = false;
  /** The agent has sent anything since it was prompted. */
  #isHeard = false;
  #isLost = false;
  #isTaken = false;
  #isClosed = false;
  #stop: Stop | null = null;
  #isRefused = false;
  /** What a person said with a rejection: the next prompt of this run. */
  #words: string | null = null;
  #lastSign = 0;
  #silence: ReturnType<typeof setTimeout> | undefined;
  #killing: ReturnType<typeof setTimeout> | undefined;
  #over = Promise.withResolvers<void>();

  constructor(input: PromptInput, context: RunContext) {
    this.#input = input;
    this.#context = context;
    this.sessionId = context.sessionId;
    this.directory = context.directory;
    this.asksInPermissions = context.agent.profile.asksInPermissions === true;
    this.#view = new RunView({ messageId: input.messageId, at: Date.now(), text: input.text }, context.agent.profile);
  }

  async perform(): Promise<AcpRunEnd> {
    let failure: unknown = null;
    try {
      await this.#prompt();
    } catch (thrown) {
      failure = thrown ?? new Error("unknown");
    } finally {
      clearTimeout(this.#silence);
      clearTimeout(this.#killing);
      this.#context.requests.withdraw(this.sessionId);
      // After a turn, an agent may still be saving its session.
      await this.#process?.end(this.#isClosed ? CLOSE_MS : failure === null ? EXIT_MS : 0);
      this.#over.resolve();
    }
    const { agent } = this.#context;
    const end = endOfRun({
      agent: agent.title,
      view: this.#view,
      profile: agent.profile,
      results: this.#results,
      failure,
      stop: this.#stop,
      isRefused: this.#isRefused,
      isLost: this.#isLost,
      costBefore: this.#costBefore(),
      complaint: this.#process?.complaint ?? "",
      at: Date.now(),
    });
    // An agent that answered has seen the prompt, even if it sent nothing else.
    if (this.#isPrompted && !isGone(failure)) this.#markTaken();
    if (!this.#isClosed) this.#count(end);
    return end;
  }

  /** Resolves when the run is over. A turn that has ended keeps its outcome. */
  async abort(): Promise<void> {
    this.#endTurn({ kind: "aborted" });
    await this.#over.promise;
  }

  /** Ends the process without reporting anything, as if this program had died. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#process?.end(CLOSE_MS);
    await this.#over.promise;
  }

  asked(request: { requestId: string; callId: string | null; tool: string; text: string }): void {
    this.#note({ type: "asked", ...this.#now(), ...request });
  }

  answered(requestId: string, reply: Reply | null): void {
    this.#sign();
    const message = reply?.kind === "permission" ? reply.message : null;
    const answer = { requestId, reply: reply && replyWord(reply), message };
    this.#tell(this.#note({ type: "answered", ...this.#now(), ...answer }));
  }

  unasked(request: { callId: string | null; tool: string; why: string }): void {
    this.#tell(this.#note({ type: "unasked", ...this.#now(), ...request }));
  }

  async reject(message: string | null): Promise<void> {
    if (message === null) this.#isRefused = true;
    else this.#words = message;
    // First: an agent that reads nothing keeps the cancel waiting.
    this.#killLater();
    await this.#connection?.cancel(this.#agentSession);
    this.#context.requests.withdraw(this.sessionId);
  }

  toolName(asked: AcpPermission["toolCall"]): string {
    const known = this.#view.calls.get(asked.toolCallId ?? "");
    return known?.name ?? this.#view.toolName({ sessionUpdate: "tool_call", ...asked });
  }

  async #prompt(): Promise<void> {
    const { directory, agent, identity, runs, version, command } = this.#context;
    if (!existsSync(directory)) {
      throw new AsyncAgentsError("invalid_input", `The folder ${directory} does not exist any more.`);
    }
    this.#process = new AgentProcess(command, directory);
    if (this.#stop) void this.#process.end(0);
    const connection = await AgentConnection.open(this.#process, this.#listener(), version);
    this.#connection = connection;
    const model = this.#input.model ?? identity.model;
    const wanted = { agent, directory, model, denyTools: identity.denyTools, runs, now: Date.now() };
    const opened = await openAgentSession(connection, wanted);
    if (opened.how === "loaded") await this.#replayOver();
    try {
      await this.#firstTurn(opened);
    } catch (thrown) {
      // Some agents resume a session that they have lost, and refuse its first prompt.
      this.#isLost = thrown instanceof AgentRefusal && thrown.isSessionGone && opened.how !== "new";
      // Only the protocol's own code says that nothing was done: otherwise the prompt might run twice.
      const isUntouched = thrown instanceof AgentRefusal && thrown.isNotFound && !this.#isHeard;
      if (!this.#isLost || !isUntouched || this.#stop) throw thrown;
      this.#isLost = false;
      await this.#firstTurn(await openNew(connection, wanted, `${agent.title}: ${thrown.message}`));
    }
    while (this.#words !== null && this.#stop === null && !this.#isRefused) {
      const told = `A person rejected what you asked for, and says: ${this.#words}\nContinue with that in mind.`;
      this.#words = null;
      this.#note({ type: "told", ...this.#now(), text: told });
      await this.#turn(told);
    }
  }

  async #firstTurn(opened: OpenedSession): Promise<void> {
    this.#agentSession = opened.agentSession;
    this.#note({ type: "opened", ...this.#now(), ...opened });
    if (this.#stop || this.#isClosed) return;
    this.#context.emit({ type: "session.working", sessionId: this.sessionId });
    const { text } = this.#input;
    await this.#turn(opened.account === null ? text : `${opened.account}\n\n${text}`);
  }

  async #turn(text: string): Promise<void> {
    clearTimeout(this.#killing);
    this.#isPrompted = true;
    this.#sign();
    this.#watch();
    const result = await this.#connection?.prompt(this.#agentSession, text);
    if (result) this.#results.push(result);
  }

  #listener() {
    const { requests } = this.#context;
    const isOurs = ({ sessionId = this.#agentSession }: { sessionId?: string | undefined }) =>
      this.#isPrompted && sessionId === this.#agentSession;
    return {
      onUpdate: (update: unknown, agentSession: unknown) => this.#onUpdate(update, agentSession),
      onPermission: async (asked: AcpPermission, signal: AbortSignal) => {
        this.#isHeard = true;
        return isOurs(asked) ? requests.permission(this, asked, signal) : CANCELLED;
      },
      onQuestion: async (asked: AcpElicitation, signal: AbortSignal) => {
        this.#isHeard = true;
        return isOurs(asked) ? requests.question(this, asked, signal) : { action: "cancel" };
      },
    };
  }

  #onUpdate(given: unknown, agentSession: unknown): void {
    this.#sign();
    const update = updateOf(given);
    if (update === null || !this.#isPrompted || this.#isClosed || MENUS.has(update.sessionUpdate)) return;
    this.#isHeard = true;
    if (agentSession !== this.#agentSession || this.#isReplayed(update)) return;
    const costBefore = this.#view.totalCost;
    const seen = this.#note({ type: "update", ...this.#now(), update: bounded(update) });
    if (this.#view.hasBegun) this.#markTaken();
    this.#tell(seen);
    if (this.#view.totalCost !== costBefore) this.#reportCost();
  }

  #tell(seen: Seen): void {
    const { sessionId } = this;
    if (seen === null || this.#isClosed) return;
    if (seen === "text") {
      this.#context.emit({ type: "text.written", sessionId });
      return;
    }
    const { callId, name, input, state, endedAt } = seen.call;
    this.#context.emit({ type: "tool.called", sessionId, callId, name, input });
    if (endedAt !== null) this.#context.emit({ type: "tool.ended", sessionId, callId, isFailed: state === "error" });
  }

  /** An agent may go on replaying after it was prompted. The ids of messages are its own; those of calls may repeat. */
  #isReplayed({ messageId, toolCallId: callId, status }: AcpUpdate): boolean {
    const { runs } = this.#context;
    if (messageId !== undefined && runs.some((run) => run.answers.some((answer) => answer.agentsId === messageId))) {
      return true;
    }
    const isNew = callId !== undefined && !this.#view.calls.has(callId);
    return isNew && (status === "completed" || status === "failed") && runs.some((run) => run.calls.has(callId));
  }

  #markTaken(): void {
    if (this.#isTaken || this.#isClosed) return;
    this.#isTaken = true;
    this.#context.emit({ type: "message.taken", sessionId: this.sessionId, messageId: this.#input.messageId });
  }

  /** What the run has cost so far, so that a limit can end it. */
  #reportCost(): void {
    const cost = costSince(this.#view.totalCost ?? 0, this.#costBefore());
    this.#context.emit({ type: "cost.reported", sessionId: this.sessionId, cost });
  }

  #costBefore(): number {
    const isOwn = ({ end, opening }: RunView) => end !== null && opening?.agentSession === this.#agentSession;
    return this.#context.runs.findLast(isOwn)?.end?.totalCost ?? 0;
  }

  #count({ messageId, tokens }: AcpRunEnd): void {
    if (tokens === null) return;
    const counted = { messageId: answerId(messageId, 0), tokens, cost: 0 };
    this.#context.emit({ type: "usage.counted", sessionId: this.sessionId, ...counted });
  }

  #endTurn(stop: Stop): void {
    if (this.#stop || this.#isClosed) return;
    this.#stop = stop;
    if (this.#connection && this.#isPrompted) {
      void this.#connection.cancel(this.#agentSession);
      this.#context.requests.withdraw(this.sessionId);
      this.#killLater();
    } else void this.#process?.end(0);
  }

  #killLater(): void {
    clearTimeout(this.#killing);
    this.#killing = setTimeout(() => void this.#process?.end(0), CANCEL_MS);
  }

  #sign(): void {
    this.#lastSign = performance.now();
  }

  /** One timer for the whole turn: an agent may send thousands of updates a second. */
  #watch(): void {
    clearTimeout(this.#silence);
    const { silentMs, requests } = this.#context;
    if (requests.isAsking(this.sessionId)) this.#sign();
    const left = this.#lastSign + silentMs - performance.now();
    if (left <= 0) this.#endTurn({ kind: "silent", ms: silentMs });
    else this.#silence = setTimeout(() => this.#watch(), Math.min(left, 60_000));
  }

  /** Some agents send part of a replay after the response that ends it. */
  async #replayOver(): Promise<void> {
    const until = performance.now() + REPLAY_MS;
    this.#sign();
    for (let now = performance.now(); now < until; now = performance.now()) {
      const left = this.#lastSign + REPLAY_QUIET_MS - now;
      if (left <= 0) return;
      await pause(left);
    }
  }

  #note(line: RunLine) {
    const isKept = this.#isClosed || this.#context.transcripts.note(this.sessionId, line);
    if (!isKept) this.#view.read({ type: "full", ...this.#now() });
    return this.#view.read(line);
  }

  #now() {
    return { messageId: this.#input.messageId, at: Date.now() };
  }
}

function isGone(failure: unknown): boolean {
  return failure instanceof AgentGone;
}

/** What the agent offers, not what it does. */
const MENUS = new Set(["available_commands_update", "current_mode_update", "config_option_update"]);
