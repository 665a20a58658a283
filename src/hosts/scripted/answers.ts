/**
 * Writes one message of a scripted agent: gets the next answer of the session's script, waits as the script says, and
 * performs it. Returns early with an unfinished message if the turn is aborted; the caller decides what happens to the
 * turn.
 */
import { messageOf } from "../../model/errors.ts";
import type { Clock } from "../../process/clock.ts";
import { pause } from "../../process/deadline.ts";
import { type HostEvent, type HostStatus, type OpenRequest, type Reply, replyWord } from "../host.ts";
import { type ScriptedGate, unlessAborted } from "./gates.ts";
import { markerOf, type ScriptedAnswer, type ScriptedDelay, say } from "./script.ts";
import type { AgentMessage, ScriptedSession, ScriptedSessions, ScriptedToolCall } from "./sessions.ts";

export interface ScriptedTurn {
  session: ScriptedSession;
  signal: AbortSignal;
  state: HostStatus;
}

export interface AnswersInput extends Pick<Clock, "now" | "after"> {
  sessions: ScriptedSessions;
  gate(name: string): ScriptedGate;
  emit(event: HostEvent): void;
  /** Makes a session answer a message; resolves at the end of the turn. */
  wake(session: ScriptedSession, messageId: string): Promise<void>;
}

export class ScriptedAnswers {
  readonly #input: AnswersInput;
  readonly #requests = new Map<string, Omit<OpenRequest, "above"> & { give: (reply: Reply) => void }>();

  constructor(input: AnswersInput) {
    this.#input = input;
  }

  requests(): OpenRequest[] {
    const { sessions } = this.#input;
    return [...this.#requests.values()].map(({ give: _give, ...request }) => {
      return { ...request, above: sessions.above(request.sessionId) };
    });
  }

  /** Answers an open request of the session or of one of its descendants; false if no such request is open. */
  reply(sessionId: string, requestId: string, reply: Reply): boolean {
    const request = this.#requests.get(requestId);
    const isBelow = ({ id }: ScriptedSession) => id === request?.sessionId;
    if (!request || !this.#input.sessions.withDescendants(sessionId).some(isBelow)) return false;
    this.#requests.delete(requestId);
    request.give(reply);
    return true;
  }

  async write(turn: ScriptedTurn, message: AgentMessage): Promise<void> {
    const { delays, answer } = this.#input.sessions.nextAnswer(turn.session);
    for (const delay of delays) await this.#hold(turn, delay);
    if (turn.signal.aborted) return;
    if (turn.state.state !== "busy") {
      turn.state = { state: "busy" };
      this.#input.emit({ type: "session.working", sessionId: turn.session.id });
    }
    message.tokens = { ...message.tokens, input: 100, output: 20 };
    message.cost = 0.01;
    await this.#answer(turn, message, answer ?? say("ok"));
  }

  fail(
    turn: ScriptedTurn,
    message: AgentMessage,
    error: string,
    { aborted = false, returnMs = null }: { aborted?: boolean; returnMs?: number | null } = {},
  ): void {
    const until = returnMs === null ? {} : { until: this.#input.now() + returnMs };
    message.error = { message: error, aborted, ...until };
    message.last = true;
    this.#input.emit({ type: "session.failed", sessionId: turn.session.id, error, aborted });
  }

  async #hold(turn: ScriptedTurn, delay: ScriptedDelay): Promise<void> {
    if (turn.signal.aborted) return;
    if (delay.type === "gate") return this.#input.gate(delay.name).pass(turn.signal);
    if (delay.type === "pause") return pause(delay.ms, { signal: turn.signal, clock: this.#input });
    const { reason, times, returnMs } = delay;
    const until = returnMs === null ? null : this.#input.now() + returnMs;
    for (let count = 1; count <= times; count++) {
      const retry = { reason, count, ...(until !== null && { next: until, until }) };
      turn.state = { state: "retrying", ...retry };
      this.#input.emit({ type: "session.retrying", sessionId: turn.session.id, ...retry });
    }
    if (returnMs !== null) await pause(returnMs, { signal: turn.signal, clock: this.#input });
  }

  async #answer(turn: ScriptedTurn, message: AgentMessage, answer: ScriptedAnswer): Promise<void> {
    switch (answer.type) {
      case "say":
        message.text = answer.text;
        message.last = true;
        this.#input.emit({ type: "text.written", sessionId: turn.session.id });
        return;
      case "empty":
        message.last = true;
        return;
      case "fail":
        return this.fail(turn, message, answer.message, answer);
      case "call": {
        const call = this.#call(turn, message, answer.name, answer.output);
        if (answer.fails === null) call.output = answer.output;
        else call.error = answer.fails;
        return this.#endCall(turn, call);
      }
      case "act": {
        const call = this.#call(turn, message, answer.name);
        return this.#act(turn, call, answer.act).finally(() => this.#endCall(turn, call));
      }
      case "delegate": {
        const call = this.#call(turn, message, "task");
        return this.#delegate(turn, call, answer.script).finally(() => this.#endCall(turn, call));
      }
      case "ask":
        return this.#ask(turn, message, answer);
    }
  }

  /** A call without an input never equals another call. */
  #call(turn: ScriptedTurn, message: AgentMessage, name: string, input?: string): ScriptedToolCall {
    const call: ScriptedToolCall = { id: this.#input.sessions.newId("call"), name, output: null, error: null };
    message.calls.push(call);
    this.#input.emit({
      type: "tool.called",
      sessionId: turn.session.id,
      callId: call.id,
      name,
      input: input ?? call.id,
    });
    return call;
  }

  /** A call that was stopped in the middle has no end. */
  #endCall({ session }: ScriptedTurn, { id: callId, output, error }: ScriptedToolCall): void {
    if (output === null && error === null) return;
    this.#input.emit({ type: "tool.ended", sessionId: session.id, callId, isFailed: error !== null });
  }

  async #act(
    turn: ScriptedTurn,
    call: ScriptedToolCall,
    work: (signal: AbortSignal) => Promise<string>,
  ): Promise<void> {
    try {
      call.output = await work(turn.signal);
    } catch (thrown) {
      call.error = messageOf(thrown);
      throw thrown;
    }
  }

  async #delegate(turn: ScriptedTurn, call: ScriptedToolCall, script: string): Promise<void> {
    const { sessions, emit, now, wake } = this.#input;
    const child = sessions.add({ parentId: turn.session.id, title: script, agent: turn.session.agent });
    emit({ type: "session.opened", sessionId: child.id, parentSessionId: turn.session.id });
    const messageId = sessions.newId("msg");
    sessions.addUserMessage(child, { id: messageId, role: "user", at: now(), text: markerOf(script), hidden: null });
    emit({ type: "message.added", sessionId: child.id, messageId });
    await unlessAborted(wake(child, messageId), turn.signal);
    if (turn.signal.aborted) return;
    const last = child.messages.at(-1);
    if (last?.role === "assistant" && last.error) call.error = last.error.message;
    else call.output = last?.role === "assistant" ? last.text : "";
  }

  async #ask(turn: ScriptedTurn, message: AgentMessage, { asks, text }: Extract<ScriptedAnswer, { type: "ask" }>) {
    const { sessions, emit } = this.#input;
    const sessionId = turn.session.id;
    const call = this.#call(turn, message, asks);
    const requestId = sessions.newId("req");
    const { promise, resolve } = Promise.withResolvers<Reply>();
    const about = asks === "permission" ? { tool: toolIn(text) } : {};
    this.#requests.set(requestId, { sessionId, requestId, asks, text, ...about, give: resolve });
    emit({ type: "session.asked", sessionId, requestId, asks, text, ...about });
    const reply = await unlessAborted(promise, turn.signal);
    this.#requests.delete(requestId);
    if (reply === undefined) return;
    emit({ type: "session.answered", sessionId, requestId, reply: replyWord(reply) });
    call.output = outputOf(reply);
    if (call.output === null) {
      const said = reply.kind === "permission" ? reply.message : null;
      call.error = said ?? "a person refused";
      message.last = said === null;
    }
    this.#endCall(turn, call);
  }
}

/** A permission in the form `tool: what it wants`. */
function toolIn(text: string): { name: string; subjects: string[] } {
  const [, name = "", subject = text] = /^(\w+): (.*)$/s.exec(text) ?? [];
  return { name, subjects: [subject] };
}

/** What the agent is told about a reply; null for a rejection. */
function outputOf(reply: Reply): string | null {
  if (reply.kind === "question") return reply.answers?.join("\n") ?? null;
  return reply.decision === "reject" ? null : "accepted";
}
