/**
 * The turns of one scripted host. A turn begins after the call that caused it has returned, and always ends with
 * `session.idle`, unless the host dies first. The script decides what an agent writes; the caller decides which message
 * wakes a session.
 */
import { messageOf } from "../../model/errors.ts";
import type { HostEvent, HostStatus, OpenRequest, Reply } from "../host.ts";
import { type AnswersInput, ScriptedAnswers, type ScriptedTurn } from "./answers.ts";
import type { AgentMessage, ScriptedSession } from "./sessions.ts";

interface RunningTurn extends ScriptedTurn {
  abort(): void;
  done: Promise<void>;
}

interface TurnsInput extends Omit<AnswersInput, "wake"> {
  /** Calls back as soon as the current call has returned. */
  soon(work: () => void): void;
}

export class ScriptedTurns {
  readonly #input: TurnsInput;
  readonly #answers: ScriptedAnswers;
  readonly #turns = new Map<string, RunningTurn>();
  /** The newest unanswered message of each session. */
  readonly #due = new Map<string, string>();
  #dead = false;

  constructor(input: TurnsInput) {
    const emit = (event: HostEvent) => {
      if (!this.#dead) input.emit(event);
    };
    this.#input = { ...input, emit };
    this.#answers = new ScriptedAnswers({ ...this.#input, wake: (session, id) => this.wake(session, id) });
  }

  /** Makes the session answer that message, in the current turn or else in a new one. */
  wake(session: ScriptedSession, messageId: string): Promise<void> {
    this.#due.set(session.id, messageId);
    const known = this.#turns.get(session.id);
    if (known || this.#dead) return known?.done ?? Promise.resolve();
    const controller = new AbortController();
    const turn: RunningTurn = {
      session,
      signal: controller.signal,
      abort: () => controller.abort(),
      state: { state: "busy" },
      done: Promise.resolve(),
    };
    this.#turns.set(session.id, turn);
    turn.done = this.#run(turn);
    return turn.done;
  }

  /** The turn that is at work takes the message up at its next step; without one, nobody does. */
  steer(session: ScriptedSession, messageId: string): void {
    if (this.#turns.has(session.id)) this.#due.set(session.id, messageId);
  }

  statuses(): Map<string, HostStatus> {
    return new Map([...this.#turns].map(([id, turn]) => [id, turn.state]));
  }

  isRunning(sessionId: string): boolean {
    return this.#turns.has(sessionId);
  }

  async abort(sessionId: string): Promise<void> {
    const turn = this.#turns.get(sessionId);
    this.#due.delete(sessionId);
    turn?.abort();
    await turn?.done;
  }

  requests(): OpenRequest[] {
    return this.#answers.requests();
  }

  /** Answers an open request of the session or of one of its descendants; false if no such request is open. */
  answer(sessionId: string, requestId: string, reply: Reply): boolean {
    return this.#answers.reply(sessionId, requestId, reply);
  }

  /** Ends like a killed process: messages stay as they are, and nothing is reported. */
  crash(): void {
    this.#dead = true;
    for (const turn of this.#turns.values()) turn.abort();
    this.#turns.clear();
  }

  async #run(turn: RunningTurn): Promise<void> {
    const { emit, soon } = this.#input;
    const sessionId = turn.session.id;
    await new Promise<void>((resolve) => soon(resolve));
    emit({ type: "session.working", sessionId });
    while (this.#due.has(sessionId) && !this.#dead) await this.#answerAll(turn);
    this.#turns.delete(sessionId);
    emit({ type: "session.idle", sessionId });
  }

  /** Message after message, until one ends the turn. */
  async #answerAll(turn: RunningTurn): Promise<void> {
    const { emit, now } = this.#input;
    const sessionId = turn.session.id;
    let taken = "";
    for (;;) {
      taken = this.#due.get(sessionId) ?? taken;
      this.#due.delete(sessionId);
      const message = this.#begin(turn.session, taken);
      try {
        await this.#answers.write(turn, message);
      } catch (thrown) {
        this.#answers.fail(turn, message, messageOf(thrown));
      }
      if (this.#dead) return;
      if (turn.signal.aborted && !message.last) {
        this.#answers.fail(turn, message, "aborted", { aborted: true });
      }
      message.endedAt = now();
      const { id: messageId, tokens, cost } = message;
      emit({ type: "usage.counted", sessionId, messageId, tokens, cost, answers: taken });
      if (message.last) return;
    }
  }

  #begin(session: ScriptedSession, answered: string): AgentMessage {
    const message: AgentMessage = {
      id: this.#input.sessions.newId("msg"),
      role: "assistant",
      at: this.#input.now(),
      endedAt: null,
      text: "",
      calls: [],
      last: false,
      error: null,
      tokens: { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0 },
      cost: 0,
      answers: answered,
    };
    session.messages.push(message);
    this.#input.emit({ type: "message.taken", sessionId: session.id, messageId: answered });
    return message;
  }
}
