/**
 * Hands a run's prompt to its host, and finds out what became of it when the call fails: a timeout does not prove that the
 * prompt did not arrive. The session itself is asked for the run's own message, for a bounded time; what cannot be found out
 * is stopped before it is called failed, and a prompt that arrives later still is stopped too. Writes nothing.
 */
import { type HostEvent, isRefusal, type PromptInput } from "../../hosts/host.ts";
import { AsyncAgentsError, messageOf } from "../../model/errors.ts";
import type { EngineContext } from "../context.ts";
import { Signals } from "../notices/signals.ts";
import type { Leftovers } from "./leftovers.ts";
import type { RunTracker } from "./tracker.ts";

/** So long the session is asked. */
const DOUBT_MS = 60_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;
const MAX_ABANDONED = 1_000;

export const SESSION_DELETED = "its session was deleted";

export class Handover {
  readonly #context: EngineContext;
  readonly #leftovers: Leftovers;
  readonly #signals = new Signals<"told">();
  /** Prompts that were given up, with their sessions. */
  readonly #abandoned = new Map<string, string>();
  #stopped = false;

  constructor(context: EngineContext, leftovers: Leftovers) {
    this.#context = context;
    this.#leftovers = leftovers;
  }

  /** Null once the host has the prompt, or the run has ended meanwhile; otherwise why it has failed. */
  async send(tracker: RunTracker, input: PromptInput): Promise<string | null> {
    const { host, log } = this.#context;
    try {
      await host.prompt(tracker.sessionId, input);
      return null;
    } catch (thrown) {
      if (isRefusal(thrown)) return messageOf(thrown);
      const error = messageOf(thrown);
      log.error("it is not known whether a prompt arrived; its session is asked", { task: tracker.taskId, error });
      return this.#find(tracker, error);
    }
  }

  /** The host said something about this message. */
  take(event: HostEvent): void {
    if (event.type !== "message.added" && event.type !== "message.taken") return;
    if (this.#abandoned.delete(event.messageId)) this.#leftovers.stop(event.sessionId);
    else this.#signals.say(event.messageId, "told");
  }

  /** Looks at once: something happened to the host. */
  hurry(tracker: RunTracker): void {
    this.#signals.say(tracker.messageId, "told");
  }

  stop(): void {
    this.#stopped = true;
    this.#signals.stop();
  }

  async #find(tracker: RunTracker, problem: string): Promise<string | null> {
    const { monotonic } = this.#context;
    const began = monotonic();
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      const told = this.#signals.wait([tracker.messageId], ["told"], pause);
      const found = await this.#look(tracker);
      if (found === "there" || this.#stopped) return null;
      if (found === "gone") return SESSION_DELETED;
      // A request dies with the program that it was sent to: it will not arrive any more.
      const isDead = found === "absent" && tracker.announced !== null;
      if (isDead || tracker.isOver) {
        this.#abandon(tracker);
        return isDead ? tracker.announced : null;
      }
      if (monotonic() - began >= DOUBT_MS) return this.#giveUp(tracker, problem, found);
      await told;
    }
  }

  async #look({ sessionId, messageId }: RunTracker): Promise<"there" | "absent" | "gone" | "unknown"> {
    try {
      const { prompted, begun } = await this.#context.host.inspect(sessionId, messageId);
      return prompted || begun ? "there" : "absent";
    } catch (thrown) {
      return AsyncAgentsError.isInstance(thrown) && thrown.code === "session_gone" ? "gone" : "unknown";
    }
  }

  async #giveUp(tracker: RunTracker, problem: string, found: "absent" | "unknown"): Promise<string> {
    this.#abandon(tracker);
    const known =
      found === "absent" ? "the prompt did not arrive in its session" : "it is not known whether the prompt arrived";
    const stopped = await this.#context.host.abort(tracker.sessionId).then(
      () => "the session was stopped",
      (thrown: unknown) =>
        `the session could not be stopped either (${messageOf(thrown)}): look at it before you go on`,
    );
    return `${known}: ${problem}. After ${DOUBT_MS / 1000} s, ${stopped}.`;
  }

  #abandon({ messageId, sessionId }: RunTracker): void {
    this.#abandoned.set(messageId, sessionId);
    const oldest = this.#abandoned.keys().next().value;
    if (this.#abandoned.size > MAX_ABANDONED && oldest !== undefined) this.#abandoned.delete(oldest);
  }
}
