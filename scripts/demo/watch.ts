/**
 * The live lines of the demo: task changes from the store's feed; the agents' actions and the parent's notices from
 * OpenCode's events. In one order: before an OpenCode event is shown, the store is read up to that moment.
 */
import type { Part } from "@opencode-ai/sdk/v2";
import { givenText } from "../../src/model/answer.ts";
import type { TaskEvent } from "../../src/model/events.ts";
import type { Run, Task } from "../../src/model/task.ts";
import { durationText } from "../../src/opencode/duration.ts";
import type { FeedEntry, Store } from "../../src/store/store.ts";
import { connectEvents, type RecordedEvent, summarizeEvent } from "../../src/testing/opencode/events.ts";
import { Recorder } from "../../src/testing/recorder.ts";
import type { Colour, Screen } from "./screen.ts";

const taskColours: Colour[] = ["cyan", "magenta", "blue", "yellow"];

/** Forwards every event as it arrives. */
class Listener extends Recorder<RecordedEvent> {
  readonly #onEvent: (event: RecordedEvent) => void;

  constructor(onEvent: (event: RecordedEvent) => void) {
    super(summarizeEvent);
    this.#onEvent = onEvent;
  }

  override push(event: RecordedEvent): void {
    super.push(event);
    this.#onEvent(event);
  }
}

export class Watch {
  readonly #store: Store;
  readonly #screen: Screen;
  readonly #parentId: string;
  readonly #names = new Map<string, { name: string; colour: Colour }>();
  readonly #userMessages = new Set<string>();
  readonly #prompts = new Set<string>();
  readonly #shown = new Set<string>();
  readonly #stops: (() => void)[] = [];
  #seq = 0;
  #order: Promise<void> = Promise.resolve();

  constructor(store: Store, screen: Screen, parentId: string) {
    this.#store = store;
    this.#screen = screen;
    this.#parentId = parentId;
  }

  async start(url: string): Promise<void> {
    this.#stops.push(this.#store.onChange(() => this.#next(() => this.#readFeed())));
    const events = await connectEvents(url, new Listener((event) => this.#onEvent(event)));
    this.#stops.push(() => events.close());
  }

  /** A message that the user typed: anything else the parent receives is a notice. */
  isPrompt(messageId: string): void {
    this.#prompts.add(messageId);
  }

  /** Shows what is still pending. */
  async catchUp(): Promise<void> {
    this.#next(() => this.#readFeed());
    await this.#order;
  }

  stop(): void {
    for (const stop of this.#stops.splice(0)) stop();
  }

  #next(work: () => Promise<void>): void {
    // The store may be closed when the demo ends early; then nothing is left to show.
    this.#order = this.#order.then(work).catch(() => undefined);
  }

  async #readFeed(): Promise<void> {
    for (const entry of await this.#store.feed(this.#seq)) {
      this.#seq = entry.seq;
      await this.#showTaskEvent(entry);
    }
  }

  async #showTaskEvent({ taskId, event }: FeedEntry): Promise<void> {
    if (event.type === "task.created") {
      const colour = taskColours[this.#names.size % taskColours.length] ?? "cyan";
      this.#names.set(taskId, { name: event.task.description, colour });
    }
    const task = await this.#store.task(taskId);
    const words =
      task &&
      wordsOf(event, task, "run" in event && event.run !== undefined ? await this.#store.run(taskId, event.run) : null);
    if (words) this.#taskLine(taskId, words);
  }

  #taskLine(taskId: string, line: { text: string; symbol?: string; colour?: Colour }): void {
    const { name, colour } = this.#names.get(taskId) ?? { name: taskId, colour: "bold" };
    this.#screen.line({ name, nameColour: colour, ...line });
  }

  #onEvent(event: RecordedEvent): void {
    if (event.type === "message.updated" && event.properties.info.role === "user") {
      this.#userMessages.add(event.properties.info.id);
    }
    if (event.type === "session.error" && event.properties.sessionID === this.#parentId) {
      const { name = "error", data } = event.properties.error ?? {};
      const text = typeof data?.message === "string" ? `${name}: ${data.message}` : name;
      this.#screen.line({ name: "parent", text, symbol: "✗", colour: "red" });
    }
    if (event.type !== "message.part.updated") return;
    const { part } = event.properties;
    if (!isFinished(part, this.#userMessages.has(part.messageID)) || this.#shown.has(part.id)) return;
    this.#shown.add(part.id);
    this.#next(async () => {
      await this.#readFeed();
      this.#showPart(part);
    });
  }

  #showPart(part: Part): void {
    const ofParent = part.sessionID === this.#parentId;
    if (part.type === "tool") {
      if (!ofParent && this.#names.has(part.sessionID)) this.#taskLine(part.sessionID, toolWords(part));
    } else if (part.type === "text" && ofParent) {
      if (!this.#userMessages.has(part.messageID)) this.#screen.line({ name: "parent", text: part.text });
      else if (!this.#prompts.has(part.messageID)) this.#showNotice(part.messageID, part.text, part.synthetic === true);
    }
  }

  #showNotice(messageId: string, text: string, hidden: boolean): void {
    if (!this.#shown.has(messageId)) {
      this.#shown.add(messageId);
      this.#screen.line({
        name: "notice to the parent",
        text: "",
        symbol: "▼",
        colour: "yellow",
        nameColour: "yellow",
      });
    }
    this.#screen.quote(text, hidden);
  }
}

/** A part grows while a model writes it; it is shown once, when it is complete. */
function isFinished(part: Part, byUser: boolean): boolean {
  if (part.type === "tool") return part.state.status === "completed" || part.state.status === "error";
  return part.type === "text" && part.text !== "" && (byUser || part.time?.end !== undefined);
}

function toolWords(part: Extract<Part, { type: "tool" }>): { text: string; symbol?: string; colour?: Colour } {
  const { state } = part;
  if (state.status === "error") return { text: `${part.tool}: ${state.error}`, symbol: "!", colour: "red" };
  const title = state.status === "completed" ? state.title : "";
  return { text: `${part.tool}  ${title}`, symbol: "→" };
}

/** The events that are shown. */
function wordsOf(event: TaskEvent, task: Task, run: Run | null) {
  const took = run?.endedAt ? durationText(run.endedAt - run.startedAt) : "";
  switch (event.type) {
    case "task.created":
      return { text: `launched as ${task.id} (agent ${task.agent})`, symbol: "+", colour: "green" } as const;
    case "task.resumed":
      return { text: `resumed: ${withoutMarkers(event.prompt)}`, symbol: "+", colour: "green" } as const;
    case "run.phased":
      return event.detail ? ({ text: phaseWords(event), symbol: "!", colour: "yellow" } as const) : null;
    case "run.completed":
      return { text: `completed in ${took}: ${event.result}`, symbol: "✓", colour: "green" } as const;
    case "run.failed":
      return { text: `error after ${took}: ${event.error}`, symbol: "✗", colour: "red" } as const;
    case "run.cancelled":
      return { text: `cancelled after ${took}: ${event.reason}`, symbol: "⊘", colour: "yellow" } as const;
    default:
      return null;
  }
}

function phaseWords({ detail }: Extract<TaskEvent, { type: "run.phased" }>): string {
  if (detail?.kind === "retrying") return `its provider fails, attempt ${detail.count}: ${detail.reason}`;
  if (detail?.kind === "answered") return `what it asked for was ${givenText(detail)}`;
  if (detail?.kind === "waiting") return `waits for an answer: ${detail.text}`;
  return detail?.kind === "blocked" ? `waits for a person: ${detail.text}` : "waits for other tasks";
}

/** Prompts as a user would have written them: the scripted model finds its script by a marker. */
export function withoutMarkers(prompt: string): string {
  return prompt.replaceAll(/\s*\[\[script:[^\]]*\]\]/g, "");
}
