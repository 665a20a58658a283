/**
 * A program that runs agents, as OpenCode does: it works on the prompts of sessions, reports events and dies with its
 * process. Sessions are on the disk and shared by all programs; turns are not: a program knows only its own, and two
 * programs may work in one session at once. Invariant: a dead program writes and reports nothing.
 */
import type { HostEvent, HostStatus, OpenRequest, Reply } from "../../src/hosts/host.ts";
import type {
  AgentMessage,
  ScriptedMessage,
  ScriptedSession,
  ScriptedSessions,
} from "../../src/hosts/scripted/sessions.ts";
import type { Random } from "../time/random.ts";
import type { History } from "../world/history.ts";
import type { SimulatedProcess } from "../world/simulated-process.ts";
import { NAMED_RETRY, planTurn, RETURN_MS, type TurnPlan } from "./turn-plan.ts";
import type { WorkEnd, WorkLog } from "./work-log.ts";

interface Turn {
  session: ScriptedSession;
  /** The prompts that it works on: those that were sent to its program. */
  messageIds: string[];
  /** Prompts that were sent to another program: its model reads them as well, and answers them. */
  alsoRead: string[];
  plan: TurnPlan;
  next: number;
  /** Prompts that it has not taken yet: the next request to the model takes them all, as OpenCode's does. */
  waiting: string[];
  message: AgentMessage | null;
  /** The prompts that it has done something for: it wrote, or a call succeeded. */
  worked: Set<string>;
  /** It took the prompt. */
  isBegun: boolean;
  status: HostStatus;
  request: OpenRequest | null;
  cancel(): void;
}

export interface ProgramContext {
  process: SimulatedProcess;
  sessions: ScriptedSessions;
  random: Random;
  work: WorkLog;
  history: History;
  emit(event: HostEvent): void;
}

export class AgentProgram {
  readonly #context: ProgramContext;
  readonly #turns = new Map<string, Turn>();
  #isAlive = true;
  #requests = 0;

  constructor(context: ProgramContext) {
    this.#context = context;
    context.process.onEnd(() => this.die());
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** The sessions that it works in. */
  get busySessions(): string[] {
    return [...this.#turns.keys()];
  }

  /** The prompts that it works on. */
  get prompts(): string[] {
    return [...this.#turns.values()].flatMap(({ messageIds }) => messageIds);
  }

  /** The prompts that it has and has not begun to work on. */
  get waiting(): string[] {
    return [...this.#turns.values()].flatMap(({ waiting }) => waiting);
  }

  die(): void {
    if (!this.#isAlive) return;
    this.#isAlive = false;
    for (const turn of this.#turns.values()) {
      turn.cancel();
      this.#tell(`dies while it works on ${turn.messageIds.join(" and ")} in ${turn.session.id}`);
      this.#logEnd(turn, "killed", null);
    }
    this.#turns.clear();
  }

  #tell(text: string): void {
    const { history, process } = this.#context;
    history.add(process.name, `  agent ${text}`);
  }

  /** Adds a user message; with `wake`, its agent works on it: now, or after what it works on. */
  add(sessionId: string, message: { id: string; text: string; hidden: string | null }, wake: boolean): void {
    const { sessions, process, emit } = this.#context;
    const session = sessions.get(sessionId);
    const isNew = !session.messages.some(({ id }) => id === message.id);
    sessions.addUserMessage(session, { ...message, role: "user", at: process.now() });
    emit({ type: "message.added", sessionId, messageId: message.id });
    if (!wake || !isNew) return;
    const turn = this.#turns.get(sessionId);
    if (turn) turn.waiting.push(message.id);
    else this.#begin(session, [message.id]);
  }

  /** A session that has a prompt and has not begun to work on it is idle. */
  statuses(): Map<string, HostStatus> {
    const begun = [...this.#turns].filter(([, { isBegun }]) => isBegun);
    return new Map(begun.map(([id, { status }]) => [id, status]));
  }

  requests(): OpenRequest[] {
    return [...this.#turns.values()].flatMap(({ request }) => (request === null ? [] : [request]));
  }

  /** False if no such request is open. */
  answer(requestId: string, reply: Reply): boolean {
    const turn = [...this.#turns.values()].find(({ request }) => request?.requestId === requestId);
    if (!turn) return false;
    const sessionId = turn.session.id;
    const isDenied = reply.kind === "permission" && reply.decision === "reject";
    turn.request = null;
    for (const id of turn.messageIds) this.#context.work.wentOn(id);
    this.#context.emit({
      type: "session.answered",
      sessionId,
      requestId,
      reply: isDenied ? "rejected" : "allowed once",
    });
    if (!isDenied) {
      this.#continue(turn);
      return true;
    }
    const message = this.#message(turn);
    message.calls.push({ id: requestId, name: "bash", output: null, error: "denied by a person" });
    this.#finish(turn, message, "denied");
    return true;
  }

  /**
   * Stops the session and those below it. Prompts that it has not taken stay in the session, unanswered. A turn is
   * stopped also where another program has deleted its session, as OpenCode does, which looks only at its own turns.
   */
  abort(sessionId: string): void {
    if (this.#turns.has(sessionId)) this.#abort(sessionId);
    else this.#context.sessions.get(sessionId);
    if (!this.#context.sessions.has(sessionId)) return;
    for (const { id } of this.#context.sessions.withDescendants(sessionId)) this.#abort(id);
  }

  delete(sessionId: string): void {
    const { sessions, emit } = this.#context;
    for (const { id } of sessions.withDescendants(sessionId).reverse()) {
      this.#abort(id);
      sessions.remove(id);
      emit({ type: "session.deleted", sessionId: id });
    }
  }

  #abort(sessionId: string): void {
    const turn = this.#turns.get(sessionId);
    if (!turn) return;
    turn.cancel();
    this.#giveUpWaiting(turn);
    const message = this.#message(turn);
    message.error = { message: "The operation was aborted.", aborted: true };
    if (turn.plan.isAbortReported)
      this.#context.emit({ type: "session.failed", sessionId, error: "The operation was aborted.", aborted: true });
    this.#finish(turn, message, "aborted");
  }

  /** If it has not taken any, it ends for those that it was to begin with. */
  #giveUpWaiting(turn: Turn): void {
    if (turn.messageIds.length === 0) turn.messageIds = turn.waiting;
    turn.waiting = [];
  }

  #begin(session: ScriptedSession, waiting: string[]): void {
    const { random, emit } = this.#context;
    const plan = planTurn(random.split(`turn ${waiting[0]}`));
    const turn: Turn = {
      session,
      messageIds: [],
      alsoRead: [],
      plan,
      next: 0,
      waiting,
      message: null,
      worked: new Set(),
      isBegun: false,
      status: { state: "busy" },
      request: null,
      cancel() {},
    };
    this.#turns.set(session.id, turn);
    this.#later(turn, plan.takeMs, () => {
      turn.isBegun = true;
      emit({ type: "session.working", sessionId: session.id });
      if (plan.end === "rejected") this.#reject(turn);
      else this.#continue(turn);
    });
  }

  /** Nothing is written, and nobody hears that it is idle. */
  #reject({ session, waiting }: Turn): void {
    const error = "Agent not found. Available agents: build";
    this.#tell(`rejects ${waiting.join(" and ")} in ${session.id}`);
    for (const id of waiting) this.#context.work.ended(id, "failed");
    this.#turns.delete(session.id);
    this.#context.emit({ type: "session.failed", sessionId: session.id, error, aborted: false });
  }

  /** The model is asked, with everything that is in the session by now. */
  #ask(turn: Turn): void {
    const { work, emit } = this.#context;
    const sessionId = turn.session.id;
    for (const messageId of turn.waiting.splice(0)) {
      turn.messageIds.push(messageId);
      work.began(messageId);
      this.#tell(`begins ${messageId} in ${sessionId}`);
      emit({ type: "message.taken", sessionId, messageId });
    }
    for (const messageId of this.#unanswered(turn)) {
      turn.alsoRead.push(messageId);
      this.#tell(`reads ${messageId} in ${sessionId}`);
      emit({ type: "message.taken", sessionId, messageId });
    }
    this.#message(turn);
  }

  /** What other programs were to work on and have not answered: the model reads the whole session each time. */
  #unanswered({ session, messageIds, alsoRead }: Turn): string[] {
    const isAnswer = (message: ScriptedMessage) => message.role === "assistant" && message.last && !message.error;
    const tail = session.messages.slice(session.messages.findLastIndex(isAnswer) + 1);
    const prompts = tail.filter(({ role }) => role === "user").map(({ id }) => id);
    return prompts.filter((id) => !messageIds.includes(id) && !alsoRead.includes(id));
  }

  #later(turn: Turn, ms: number, work: () => void): void {
    turn.cancel = this.#context.process.after(ms, () => {
      if (!this.#isAlive || this.#turns.get(turn.session.id) !== turn) return;
      if (this.#context.sessions.has(turn.session.id)) work();
      else this.#fail(turn);
    });
  }

  /** Another program deleted its session: what it writes next fails. */
  #fail(turn: Turn): void {
    const sessionId = turn.session.id;
    this.#giveUpWaiting(turn);
    this.#context.emit({ type: "session.failed", sessionId, error: "Session not found", aborted: false });
    this.#finish(turn, this.#message(turn), "failed");
  }

  #continue(turn: Turn): void {
    if (turn.message === null) this.#ask(turn);
    const step = turn.plan.steps[turn.next++];
    if (step) this.#later(turn, step.ms, () => this.#step(turn, step));
    else if (turn.plan.end !== "never") this.#later(turn, turn.plan.endMs, () => this.#end(turn));
  }

  #step(turn: Turn, step: TurnPlan["steps"][number]): void {
    const { emit } = this.#context;
    const sessionId = turn.session.id;
    const work = () => {
      for (const id of turn.messageIds) turn.worked.add(id);
    };
    turn.status = { state: "busy" };
    switch (step.does) {
      case "call": {
        const message = this.#message(turn);
        const id = `${message.id}:${message.calls.length}`;
        message.calls.push({
          id,
          name: "read",
          output: step.fails ? null : "done",
          error: step.fails ? "no such file" : null,
        });
        if (!step.fails) work();
        this.#close(turn, message, false);
        emit({ type: "tool.called", sessionId, callId: id, name: "read", input: { path: id } });
        emit({ type: "tool.ended", sessionId, callId: id, isFailed: step.fails });
        break;
      }
      case "write":
        work();
        this.#message(turn).text += "Something. ";
        emit({ type: "text.written", sessionId });
        break;
      case "retry": {
        const { reason, count } = step;
        const until = this.#context.process.now() + RETURN_MS;
        const retry = { reason, count, ...(count >= NAMED_RETRY && { next: until, until }) };
        if (count >= NAMED_RETRY) this.#context.work.returns(sessionId, until);
        turn.status = { state: "retrying", ...retry };
        emit({ type: "session.retrying", sessionId, ...retry });
        break;
      }
      case "ask": {
        const requestId = `per_${turn.messageIds[0]}_${++this.#requests}`;
        const above = this.#context.sessions.above(sessionId);
        const text = `May I do ${requestId}?`;
        turn.request = { sessionId, above, requestId, asks: "permission", text };
        this.#context.work.asks(requestId, text);
        for (const id of turn.messageIds) this.#context.work.waits(id);
        this.#tell(`asks ${requestId} in ${sessionId}`);
        emit({ type: "session.asked", sessionId, requestId, asks: "permission", text });
        return;
      }
    }
    this.#continue(turn);
  }

  #end(turn: Turn): void {
    const { emit } = this.#context;
    const sessionId = turn.session.id;
    const message = this.#message(turn);
    switch (turn.plan.end) {
      case "answer":
        message.text += `Done: ${turn.messageIds.at(-1)}`;
        turn.worked = new Set(turn.messageIds);
        emit({ type: "text.written", sessionId });
        this.#finish(turn, message, "answered");
        break;
      case "error":
        message.error = { message: "The provider failed.", aborted: false };
        emit({ type: "session.failed", sessionId, error: "The provider failed.", aborted: false });
        this.#finish(turn, message, "failed");
        break;
      case "refused": {
        const until = this.#context.process.now() + RETURN_MS;
        this.#context.work.returns(sessionId, until);
        message.error = { message: "The provider refuses requests.", aborted: false, until };
        emit({ type: "session.failed", sessionId, error: "The provider refuses requests.", aborted: false });
        this.#finish(turn, message, "failed");
        break;
      }
      default:
        // With something done before, it counts as an answer.
        this.#finish(turn, message, turn.worked.size > 0 ? "answered" : "stopped");
    }
  }

  /** The message that the agent is writing. */
  #message(turn: Turn): AgentMessage {
    if (turn.message) return turn.message;
    const { sessions, process } = this.#context;
    const tokens = { input: 1, output: 1, reasoning: 0, cacheRead: 0, cacheWrite: 0 };
    const message: AgentMessage = {
      id: sessions.newId("msg"),
      role: "assistant",
      at: process.now(),
      endedAt: null,
      text: "",
      calls: [],
      last: false,
      error: null,
      tokens,
      cost: 0.01,
      answers: turn.session.messages.findLast(({ role }) => role === "user")?.id ?? "",
    };
    turn.session.messages.push(message);
    turn.message = message;
    const { work } = this.#context;
    work.requested(turn.session.id, turn.messageIds, { tokens: tokens.input + tokens.output, cost: message.cost });
    return message;
  }

  #close(turn: Turn, message: AgentMessage, last: boolean): void {
    const { process, emit } = this.#context;
    message.endedAt = process.now();
    message.last = last;
    turn.message = null;
    const { id: messageId, tokens, cost, answers = "" } = message;
    emit({ type: "usage.counted", sessionId: turn.session.id, messageId, tokens, cost, answers });
  }

  #finish(turn: Turn, message: AgentMessage, how: "answered" | "failed" | "stopped" | "aborted" | "denied"): void {
    const { emit } = this.#context;
    this.#close(turn, message, true);
    this.#tell(`ends ${turn.messageIds.join(" and ")} in ${turn.session.id}: ${how}`);
    this.#logEnd(turn, how, how === "answered" ? message.text.trim() : null);
    turn.cancel();
    this.#turns.delete(turn.session.id);
    if (turn.waiting.length > 0) this.#begin(turn.session, turn.waiting);
    else {
      this.#context.work.rested(turn.session.id);
      emit({ type: "session.idle", sessionId: turn.session.id });
    }
  }

  #logEnd({ messageIds, alsoRead, worked }: Turn, how: WorkEnd, text: string | null): void {
    const { work } = this.#context;
    for (const id of messageIds) work.ended(id, how === "answered" && !worked.has(id) ? "stopped" : how);
    for (const id of alsoRead) work.readerEnded(id, how);
    if (text !== null) for (const id of [...messageIds, ...alsoRead]) work.answered(id, text);
  }
}
