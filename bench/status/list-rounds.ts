/**
 * The list and the search, in interleaved rounds: every contender gets its share of requests in each round, in
 * rotating order. A write to its store precedes every request, so no answer can be cached. Returns requests per
 * second.
 */
import { isDeepStrictEqual } from "node:util";
import { folderToken } from "../../src/http/access/token-file.ts";
import { type Child, startChild } from "../child-process.ts";
import type { BareListCalls } from "./bare-list-server.ts";
import { foreignWrites } from "./foreign-writes.ts";
import { type Load, requestRate } from "./request-load.ts";
import type { StatusServerCalls } from "./server.ts";
import { PLANTED } from "./stored-tasks.ts";

export const LIST_CONTENDERS = [
  "list",
  "small",
  "bare",
  "constant",
  "rare",
  "hundredth",
  "frequent",
  "letters",
] as const;

export type ListContender = (typeof LIST_CONTENDERS)[number];

/** Requests per second of each contender in one round. */
export type ListRound = Record<ListContender, number>;

export interface ListOptions {
  /** Folders with many tasks and with few. */
  large: string;
  small: string;
  /** Removed if this process dies. */
  folder: string;
  rounds: number;
  requests: number;
  onProgress(line: string): void;
}

export interface ListFigures {
  rounds: ListRound[];
  bytes: number;
  /** How many tasks each search found. */
  found: Record<string, number>;
}

const PATH = "/v1/tasks";
const TERMS = { rare: PLANTED.rare, hundredth: PLANTED.hundredth, frequent: PLANTED.frequent, letters: "zo" } as const;
/** Rounds that do not count: code and statements warm up. */
const WARM_UPS = 2;

export async function measureLists(options: ListOptions): Promise<ListFigures> {
  const children: Child<never>[] = [];
  const start = <Calls extends StatusServerCalls | BareListCalls>(file: string) => {
    const child = startChild<Calls>(file, options.folder);
    children.push(child as unknown as Child<never>);
    return child;
  };
  const writes = { large: foreignWrites(options.large), small: foreignWrites(options.small) };
  try {
    const large = await start<StatusServerCalls>("./status/server.ts").call("start", { directory: options.large });
    const small = await start<StatusServerCalls>("./status/server.ts").call("start", { directory: options.small });
    const bare = await start<BareListCalls>("./status/bare-list-server.ts").call("list", { directory: options.large });
    const tokens = { large: folderToken(options.large), small: folderToken(options.small) };
    const text = await sameAnswer(large, bare);
    const constant = await start<BareListCalls>("./status/bare-list-server.ts").call("constant", { text });
    const search = (name: keyof typeof TERMS): Load =>
      load(large, `${PATH}?search=${TERMS[name]}`, writes.large.write, tokens.large);
    const contenders: Record<ListContender, Load> = {
      list: load(large, PATH, writes.large.write, tokens.large),
      small: load(small, PATH, writes.small.write, tokens.small),
      bare: load(bare, PATH, writes.large.write),
      constant: load(constant, PATH, writes.large.write),
      rare: search("rare"),
      hundredth: search("hundredth"),
      frequent: search("frequent"),
      letters: search("letters"),
    };
    const found = await foundBy(large);
    return { rounds: await runRounds(contenders, options), bytes: Buffer.byteLength(text), found };
  } finally {
    for (const child of children) await child.stop();
    for (const each of Object.values(writes)) each.close();
  }
}

function load(url: string, path: string, before: () => void, token?: string): Load {
  return { url, path, before, ...(token === undefined ? {} : { token }) };
}

async function runRounds(contenders: Record<ListContender, Load>, options: ListOptions): Promise<ListRound[]> {
  const rounds: ListRound[] = [];
  for (let index = -WARM_UPS; index < options.rounds; index++) {
    const round: Partial<ListRound> = {};
    for (const name of turned(LIST_CONTENDERS, index))
      round[name] = await requestRate(contenders[name], share(name, options));
    if (index >= 0) rounds.push(round as ListRound);
    const figures = LIST_CONTENDERS.map((name) => `${name} ${round[name]?.toFixed(0)}/s`).join(", ");
    options.onProgress(`${index < 0 ? "warm-up" : `round ${index + 1} of ${options.rounds}`}: ${figures}`);
  }
  return rounds;
}

/** The slow one has no limit and gets fewer requests. */
function share(name: ListContender, { requests }: ListOptions): number {
  return name === "letters" ? Math.ceil(requests / 10) : requests;
}

/** Odd rounds run backwards, so that no contender always follows the same neighbour. */
export function turned<T>(names: readonly T[], round: number): T[] {
  return round % 2 === 0 ? [...names] : [...names].reverse();
}

/** The bare server's answer must equal ours; otherwise the comparison means nothing. */
async function sameAnswer(ours: string, bare: string): Promise<string> {
  const [one, other] = await Promise.all([ours, bare].map(async (url) => (await fetch(`${url}${PATH}`)).text()));
  if (one === undefined || other === undefined || !isDeepStrictEqual(JSON.parse(one), JSON.parse(other))) {
    throw new Error("The bare server's list is not ours.");
  }
  return one;
}

async function foundBy(url: string): Promise<Record<string, number>> {
  const totals = Object.entries(TERMS).map(async ([name, term]) => {
    const answer = (await (await fetch(`${url}${PATH}?search=${term}`)).json()) as { total: number };
    return [name, answer.total] as const;
  });
  return Object.fromEntries(await Promise.all(totals));
}
