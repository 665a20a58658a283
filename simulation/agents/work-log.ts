/**
 * What agents really did with each prompt, whatever anybody reports about it: the truth that the checks compare with.
 */
export type WorkEnd = "answered" | "failed" | "stopped" | "aborted" | "denied" | "killed";

export interface Work {
  /** When somebody first wanted to send it. */
  askedAt: number;
  /** How often a prompt with this id was sent to a program, and by which processes. */
  sentBy: string[];
  /** What it said, each time. */
  texts: string[];
  /** When its sender heard that it had arrived, as an answer or an event; null if it never did. */
  heardAt: number | null;
  /** How often an agent began to work on it, in a program that it was sent to. */
  begun: number;
  /** When it first began, in virtual time; null if it never did. */
  begunAt: number | null;
  /** How each of them ended. */
  ends: WorkEnd[];
  /** How the turns of other programs ended whose models read it too: the session cannot tell them apart. */
  readersEnds: WorkEnd[];
  /** When the first and the last of them ended. */
  firstEndedAt: number | null;
  endedAt: number | null;
  /** When its agents waited for people. */
  waits: { from: number; until: number | null }[];
  /** The answers to it: also of agents in other programs, whose models read the same session. */
  answers: string[];
}

export interface Used {
  tokens: number;
  cost: number;
}

export class WorkLog {
  readonly #works = new Map<string, Work>();
  /** When each line about tasks first reached a parent. */
  readonly #told = new Map<string, number>();
  /** When somebody tried to stop a session. */
  readonly #stops = new Map<string, number[]>();
  /** When somebody read a session. */
  readonly #reads = new Map<string, number[]>();
  /** When each session had nothing left to do. */
  readonly #rests = new Map<string, number[]>();
  /** What agents ask people, by the ids of the requests. */
  readonly #texts = new Map<string, string>();
  /** When providers are back, as they said it in each session, by the wall clock. */
  readonly #returns = new Map<string, number[]>();
  /** What each request to a model used, in which session, and for which prompts. */
  readonly #requests: { sessionId: string; messageIds: readonly string[]; tokens: number; cost: number }[] = [];
  clock: () => number = () => 0;

  /** The prompts that were sent, in order. */
  get sentIds(): string[] {
    return [...this.#works].filter(([, { sentBy }]) => sentBy.length > 0).map(([id]) => id);
  }

  /** What was sent with that text, by the ids of the prompts. */
  withText(text: string): (Work & { messageId: string })[] {
    return [...this.#works].flatMap(([messageId, work]) => (work.texts.includes(text) ? [{ messageId, ...work }] : []));
  }

  /** Of a prompt that nobody wanted to send, nothing. */
  of(messageId: string): Work {
    return this.#works.get(messageId) ?? this.#nothing();
  }

  /** Whether somebody wanted to send it. */
  isAsked(messageId: string): boolean {
    return this.#works.has(messageId);
  }

  #open(messageId: string): Work {
    const work = this.of(messageId);
    this.#works.set(messageId, work);
    return work;
  }

  #nothing(): Work {
    return {
      askedAt: this.clock(),
      sentBy: [],
      texts: [],
      heardAt: null,
      begun: 0,
      begunAt: null,
      ends: [],
      readersEnds: [],
      firstEndedAt: null,
      endedAt: null,
      waits: [],
      answers: [],
    };
  }

  asked(messageId: string): void {
    this.#open(messageId);
  }

  sent(messageId: string, process: string, text: string): void {
    const work = this.#open(messageId);
    work.sentBy.push(process);
    work.texts.push(text);
  }

  heard(messageId: string): void {
    this.#open(messageId).heardAt ??= this.clock();
  }

  told(lines: string): void {
    for (const line of lines.split("\n")) if (!this.#told.has(line)) this.#told.set(line, this.clock());
  }

  /** Null if no parent was told. */
  toldAt(line: string): number | null {
    return this.#told.get(line) ?? null;
  }

  triedToStop(sessionId: string): void {
    this.#stops.set(sessionId, [...this.stopsOf(sessionId), this.clock()]);
  }

  stopsOf(sessionId: string): readonly number[] {
    return this.#stops.get(sessionId) ?? [];
  }

  /** Somebody asked what is in a session, and got an answer. */
  read(sessionId: string): void {
    this.#reads.set(sessionId, [...(this.#reads.get(sessionId) ?? []), this.clock()]);
  }

  wasRead(sessionId: string, from: number, until: number): boolean {
    return (this.#reads.get(sessionId) ?? []).some((at) => at >= from && at < until);
  }

  rested(sessionId: string): void {
    this.#rests.set(sessionId, [...(this.#rests.get(sessionId) ?? []), this.clock()]);
  }

  /** Null if it has gone on since. */
  restAfter(sessionId: string, from: number): number | null {
    return (this.#rests.get(sessionId) ?? []).find((at) => at >= from) ?? null;
  }

  began(messageId: string): void {
    const work = this.#open(messageId);
    work.begun++;
    work.begunAt ??= this.clock();
  }

  requested(sessionId: string, messageIds: readonly string[], { tokens, cost }: Used): void {
    this.#requests.push({ sessionId, messageIds: [...messageIds], tokens, cost });
  }

  /** What agents used in a session. */
  usedIn(sessionId: string): Used {
    return sumOf(this.#requests.filter((request) => request.sessionId === sessionId));
  }

  /** What an agent used that worked on that prompt and on no other. */
  usedFor(messageId: string): Used {
    return sumOf(this.#requests.filter(({ messageIds }) => messageIds.length === 1 && messageIds[0] === messageId));
  }

  asks(requestId: string, text: string): void {
    this.#texts.set(requestId, text);
  }

  /** Null if no agent asked that. */
  askedText(requestId: string): string | null {
    return this.#texts.get(requestId) ?? null;
  }

  returns(sessionId: string, at: number): void {
    this.#returns.set(sessionId, [...this.returnsOf(sessionId), at]);
  }

  returnsOf(sessionId: string): readonly number[] {
    return this.#returns.get(sessionId) ?? [];
  }

  /** Its agent asks people something, and does nothing else meanwhile. */
  waits(messageId: string): void {
    this.#open(messageId).waits.push({ from: this.clock(), until: null });
  }

  wentOn(messageId: string): void {
    for (const wait of this.of(messageId).waits) wait.until ??= this.clock();
  }

  ended(messageId: string, how: WorkEnd): void {
    const work = this.#open(messageId);
    this.wentOn(messageId);
    work.ends.push(how);
    work.endedAt = this.clock();
    work.firstEndedAt ??= work.endedAt;
  }

  /** The model of another program had read it, and that one's turn ended. */
  readerEnded(messageId: string, how: WorkEnd): void {
    this.#open(messageId).readersEnds.push(how);
  }

  answered(messageId: string, text: string): void {
    this.#open(messageId).answers.push(text);
  }
}

function sumOf(uses: readonly Used[]): Used {
  return uses.reduce((all, { tokens, cost }) => ({ tokens: all.tokens + tokens, cost: all.cost + cost }), {
    tokens: 0,
    cost: 0,
  });
}
