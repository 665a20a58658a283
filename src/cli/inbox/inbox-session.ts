/**
 * The inbox of a person at a terminal: which entry is selected, what is being typed, and what each key does. An answer
 * names the request it is for. After the list moved by itself, keys that answer are ignored for a moment: they were
 * meant for the entry before.
 */
import type { Client } from "../../client/client.ts";
import { givenText } from "../../model/answer.ts";
import { messageOf } from "../../model/errors.ts";
import { questionsIn } from "../../model/questions.ts";
import { budgetBody } from "../../protocol/budget-body.ts";
import type { WireInboxEntry } from "../../protocol/inbox.ts";
import { ownWords } from "../terminal/own-words.ts";
import type { Screen } from "../terminal/screen.ts";
import { scrollOf } from "../terminal/scroll-keys.ts";
import { oneLine, shortId } from "../terminal/text.ts";
import { inboxLines } from "./inbox-lines.ts";

const SETTLE_MS = 500;
const ENTER = ["\r", "\n"];
const NEXT = ["n", "\t"];
const BACK = ["\u007f", "\b"];
const ESCAPE = "\u001b";
const PAGE = 5;

interface Typing {
  entry: WireInboxEntry;
  /** What is asked for, one after the other. */
  labels: readonly string[];
  given: string[];
  text: string;
  send(given: readonly string[]): Promise<string>;
}

export class InboxSession {
  readonly #client: () => Promise<Client>;
  readonly #screen: Screen;
  readonly #seen = new Set<string>();
  #entries: readonly WireInboxEntry[] = [];
  #selected: WireInboxEntry | null = null;
  #above = 0;
  #below = 0;
  #note = "";
  #typing: Typing | null = null;
  #isBusy = false;
  #settledAt = 0;

  constructor(client: () => Promise<Client>, screen: Screen) {
    this.#client = client;
    this.#screen = screen;
  }

  get isTyping(): boolean {
    return this.#typing !== null;
  }

  /** What needs a person now. */
  show(entries: readonly WireInboxEntry[]): void {
    const before = this.#selected;
    const at = this.#entries.findIndex(({ id }) => id === before?.id);
    this.#entries = entries;
    const same = entries.find(({ id }) => id === before?.id);
    this.#selected = same ?? entries[Math.min(Math.max(at, 0), entries.length - 1)] ?? null;
    if (before !== null && same === undefined) void this.#left(before);
    this.draw();
  }

  draw(): void {
    const { width, height, paint } = this.#screen;
    const typing = this.#typing;
    const shown = typing && { label: typing.labels[typing.given.length] ?? "", text: typing.text };
    const view = { entries: this.#entries, selected: this.#selected, above: this.#above, note: this.#note };
    const { lines, below } = inboxLines({ ...view, typing: shown }, { width, height, paint, now: Date.now() });
    this.#below = below;
    this.#screen.draw(lines);
    if (this.#selected !== null) void this.#leaveReceipt(this.#selected);
  }

  /** A line below the entries, until the next key. */
  say(note: string): void {
    this.#note = note;
    this.draw();
  }

  press(key: string): void {
    this.#note = "";
    if (this.#typing !== null) this.#type(this.#typing, key);
    else this.#act(key);
    this.draw();
  }

  #act(key: string): void {
    const entry = this.#selected;
    if (entry === null) return;
    if (ENTER.includes(key)) this.#above = this.#below === 0 ? 0 : this.#above + PAGE;
    else if (/^[1-9]$/.test(key)) this.#select(this.#entries[Number(key) - 1]);
    else if (NEXT.includes(key)) this.#move(1);
    else if (scrollOf(key, PAGE) !== 0) this.#move(scrollOf(key, PAGE));
    else if (Date.now() >= this.#settledAt && !this.#isBusy) this.#answer(entry, key);
  }

  #move(by: number): void {
    const at = this.#selected === null ? 0 : this.#entries.indexOf(this.#selected) + by;
    this.#select(this.#entries[Math.max(0, Math.min(at, this.#entries.length - 1))]);
  }

  /** By the person, who knows then what the next key is for. */
  #select(entry: WireInboxEntry | undefined): void {
    this.#settledAt = 0;
    if (entry === undefined || entry === this.#selected) return;
    this.#selected = entry;
    this.#above = 0;
  }

  #answer(entry: WireInboxEntry, key: string): void {
    const { kind, taskId, requestId, approvalId } = entry;
    if (approvalId !== null) {
      if (key === "r") this.#do(entry, () => this.#decide(approvalId, "deny"));
      if (key === "a") this.#allow(entry, "approvals", () => this.#decide(approvalId, "approve"));
      return;
    }
    const { budgetId } = entry;
    if (budgetId !== null && key === "t") {
      this.#ask(entry, ["Raise it to (such as $5 2h):"], ([text = ""]) => this.#raise(budgetId, text));
    }
    if (taskId === null) return;
    if (kind === "permission" && requestId !== null) {
      const allowed = { a: "once", A: "always" }[key] as "once" | "always" | undefined;
      const reply = (how: "once" | "always" | "reject", message: string | null) =>
        this.#reply(taskId, { kind: "permission", decision: how, message, requestId });
      if (allowed) this.#allow(entry, `show ${shortId(taskId)}`, () => reply(allowed, null));
      if (key === "r") this.#do(entry, () => reply("reject", null));
      if (key === "R") this.#ask(entry, ["What should it do instead?"], ([text = ""]) => reply("reject", text));
    } else if (kind === "question" && requestId !== null) {
      const reply = (answers: string[] | null) => this.#reply(taskId, { kind: "question", answers, requestId });
      if (key === "r") this.#do(entry, () => reply(null));
      if (key === "t") this.#ask(entry, questionsIn(entry.text), (answers) => reply([...answers]));
    } else if (kind === "blocked") {
      if (key === "a") this.#do(entry, () => this.#start(taskId));
      if (key === "r") this.#do(entry, () => this.#cancel(taskId));
    } else if (key === "d" && kind !== "conflict") this.#do(entry, async () => this.#read(taskId));
    else if (key === "t") this.#ask(entry, ["Continue it with:"], ([text = ""]) => this.#resume(taskId, text));
  }

  /** Whoever allows something must have been shown all of it. `command` shows what is too long for here. */
  #allow(entry: WireInboxEntry, command: string, work: () => Promise<string>): void {
    if (entry.isShortened) this.#note = `It is too long for here: asyncagents ${command} shows all of it.`;
    else if (this.#below > 0) this.#note = "Read all of it first: enter.";
    else this.#do(entry, work);
  }

  #ask(entry: WireInboxEntry, labels: readonly string[], send: Typing["send"]): void {
    this.#typing = { entry, labels: labels.map(oneLine), given: [], text: "", send };
  }

  #type(typing: Typing, key: string): void {
    if (key === ESCAPE || key === "\u0003") this.#typing = null;
    else if (BACK.includes(key)) typing.text = [...typing.text].slice(0, -1).join("");
    else if (ENTER.includes(key)) this.#enter(typing);
    else if (!key.startsWith(ESCAPE) && key >= " ") typing.text += key;
  }

  #enter(typing: Typing): void {
    if (typing.text.trim() === "") return;
    typing.given.push(typing.text.trim());
    typing.text = "";
    if (typing.given.length < typing.labels.length) return;
    this.#typing = null;
    this.#do(typing.entry, () => typing.send(typing.given));
  }

  /** One answer at a time. What came of it is said; the list follows from the events. */
  #do(entry: WireInboxEntry, work: () => Promise<string>): void {
    this.#isBusy = true;
    this.#note = "…";
    const done = (note: string) => {
      this.#isBusy = false;
      this.#note = note;
      this.draw();
    };
    // Its own answer is not news.
    this.#seen.add(`done ${entry.id}`);
    work().then(done, (thrown: unknown) => done(ownWords(messageOf(thrown))));
  }

  async #reply(taskId: string, body: Parameters<Client["answer"]>[1]): Promise<string> {
    await (await this.#client()).answer(taskId, { ...body, via: "command line" });
    if (body.kind === "question") return body.answers === null ? "Declined." : "Answered.";
    return { once: "Allowed this time.", always: "Allowed from now on.", reject: "Rejected." }[body.decision];
  }

  async #decide(approval_id: string, decision: "approve" | "deny"): Promise<string> {
    const input = { approval_id, decision, if_requested: true };
    const { approval } = await (await this.#client()).operate("decide_approval", input);
    return `It is ${approval.state}.`;
  }

  async #read(taskId: string): Promise<string> {
    await (await this.#client()).read(taskId);
    return "Marked as read.";
  }

  async #start(taskId: string): Promise<string> {
    await (await this.#client()).edit(taskId, { ifFailed: "run_anyway" });
    return "It starts when the others have ended.";
  }

  async #cancel(taskId: string): Promise<string> {
    await (await this.#client()).cancel(taskId);
    return "Cancelled.";
  }

  async #raise(budgetId: string, text: string): Promise<string> {
    const { text: used } = await (await this.#client()).setBudget(budgetId, budgetBody(text));
    return `Raised: ${used}.`;
  }

  async #resume(taskId: string, prompt: string): Promise<string> {
    await (await this.#client()).resume(taskId, prompt);
    return "It continues.";
  }

  /** The selected entry is gone: somebody else answered it, unless this person did. */
  async #left(entry: WireInboxEntry): Promise<void> {
    this.#above = 0;
    this.#settledAt = Date.now() + SETTLE_MS;
    if (this.#typing?.entry.id === entry.id) this.#typing = null;
    if (this.#seen.has(`done ${entry.id}`) || entry.taskId === null) return;
    const task = await (await this.#client()).task(entry.taskId).catch(() => null);
    const { phaseDetail: detail = null } = task ?? {};
    const isIts = detail?.kind === "answered" && detail.requestId === entry.requestId;
    this.#note = isIts ? `"${oneLine(entry.description)}": already ${givenText(detail)}.` : this.#note;
    this.draw();
  }

  async #leaveReceipt({ id, taskId, requestId, seen }: WireInboxEntry): Promise<void> {
    if (taskId === null || requestId === null || seen.includes("command line") || this.#seen.has(id)) return;
    this.#seen.add(id);
    const client = await this.#client();
    // A receipt is no reason to disturb the person: an agent or a reader's token gets none.
    await client.seen(taskId, { requestId, via: "command line" }).catch(() => {});
  }
}
