/**
 * The tasks of a large store: their words, actions and outcomes. Pure and seeded by each task's age, so that the
 * newest tasks of two stores are the same however many older ones there are.
 */
import type { NewTask, TaskEvent } from "../../src/model/events.ts";
import type { Progress } from "../../src/model/progress.ts";
import { type Random, seededRandom } from "../statistics.ts";

/** The words searched for, with their share of the descriptions. No other word contains one of them. */
export const PLANTED = { frequent: "review", hundredth: "pagination", rare: "kerberos" } as const;
/** One task in this many has the rare word. */
const RARE_EACH = 20_000;

const AGENTS = ["explore", "general", "build", "plan", "reviewer", "tester"];
const TOOLS = ["read", "grep", "glob", "bash", "edit", "write", "webfetch", "list", "todowrite", "patch"];
const MODELS = [null, "anthropic/claude-sonnet", "openai/gpt-mini"];
const TASKS_PER_PARENT = 40;
const TASKS_PER_BATCH = 4;
const BETWEEN_STARTS_MS = 30_000;
const NEWEST_START = Date.UTC(2026, 10, 1);

const WORDS = `
  account action adapter address admin alert alias analysis anchor api append archive array assert asset async attempt audit
  author average backup balance banner batch binary block body border branch bridge browser bucket buffer build bundle button
  byte cache caller cancel capture card catalog chain change channel chart check child class clean client clock clone close
  cluster code column command commit compare compile compose config connect console constant contract control convert cookie
  copy core count cover crash create cursor custom daemon data date debug decode default delay delete deploy design detail
  device dialog digest disk display document domain download draft driver duplicate edge editor effect element email encode
  endpoint engine entry enum error event example exception export expression extract factory failure feature fetch field file
  filter find fix flag flow folder footer form format frame function gateway generate graph grid group guard handler hash
  header health hidden history hook host icon identity image import index inline input insert install integer invoice issue
  item iterate job join journal json kernel key label latency launch layer layout leak ledger legend length level library
  license limit link list loader local lock login loop machine mail margin marker mask match matrix measure member memory
  menu merge message method metric middleware migrate mirror mobile mode module monitor mount name network node notice number
  object offset order origin output owner package panel parent parser patch path payload payment people permission pipeline
  plugin point pointer policy pool port position prefix price process profile progress project prompt property protocol proxy
  query queue quota range rate reader record redirect refactor reference region release remote render repair replace report
  request reset resolve response restart result retry role rollback route rule runner sample scan schedule schema scope score
  screen script search secret section select server service session setting shadow shape share shell signal size socket sort
  source stage state status step storage store stream string style submit summary support switch symbol sync system table
  target task template terminal test text theme thread throttle ticket timeout title token tool trace track transfer tree
  trigger type unit update upload user validate value variable vector version view visit volume wait warning watch widget
  window worker wrapper write zone`
  .trim()
  .split(/\s+/);

/** A stored task as the event that created it and the events that ended it. */
export interface StoredTask {
  id: string;
  parentSessionId: string;
  made: TaskEvent;
  ended: TaskEvent;
}

/** The task that this many newer tasks follow (0: the newest). */
export function storedTask(age: number): StoredTask {
  const random = seededRandom(age);
  const id = `ses_bench${String(age).padStart(8, "0")}`;
  const startedAt = NEWEST_START - age * BETWEEN_STARTS_MS;
  const endedAt = startedAt + 5_000 + Math.floor(random() ** 3 * 900_000);
  const task = newTask(id, age, random);
  return {
    id,
    parentSessionId: task.parentSessionId,
    made: { type: "task.created", at: startedAt, task },
    ended: endOf(endedAt, random),
  };
}

export function description(age: number, random: Random): string {
  const words = Array.from({ length: 3 + Math.floor(random() * 6) }, () => pick(WORDS, random));
  const place = () => Math.floor(random() * words.length);
  if (random() < 0.3) words[place()] = PLANTED.frequent;
  if (age % 100 === 7) words[place()] = PLANTED.hundredth;
  if (age % RARE_EACH === 11) words[place()] = PLANTED.rare;
  return words.join(" ");
}

function newTask(id: string, age: number, random: Random): NewTask {
  const parent = Math.floor(age / TASKS_PER_PARENT);
  const batch = Math.floor(age / TASKS_PER_BATCH);
  const title = description(age, random);
  return {
    id,
    sessionId: id,
    host: "opencode",
    directory: `/repositories/project-${parent % 12}`,
    parentSessionId: `ses_parent${String(parent).padStart(6, "0")}`,
    parentMessageId: `msg_parent${String(batch).padStart(8, "0")}`,
    parentAgent: "build",
    description: title,
    prompt: `${title}: ${text(100 + Math.floor(random() * 500), random)}`,
    messageId: `msg_prompt${String(age).padStart(8, "0")}`,
    agent: pick(AGENTS, random),
    model: pick(MODELS, random),
    batchId: `bat_${String(batch).padStart(8, "0")}`,
    isForked: random() < 0.1,
    owner: "ins_bench",
  };
}

function endOf(at: number, random: Random): TaskEvent {
  const progress = progressOf(at, random);
  const kind = random();
  if (kind < 0.06) return { type: "run.failed", at, run: 0, error: text(120, random), progress };
  if (kind < 0.1) return { type: "run.cancelled", at, run: 0, reason: "cancelled by a person", progress };
  return { type: "run.completed", at, run: 0, result: text(200 + Math.floor(random() * 1_800), random), progress };
}

export function progressOf(at: number, random: Random): Progress {
  const lastTools: string[] = [];
  const toolCallsByName: Record<string, number> = {};
  const toolCalls = 1 + Math.floor(random() * 40);
  for (let call = 0; call < toolCalls; call++) {
    const name = pick(TOOLS, random);
    toolCallsByName[name] = (toolCallsByName[name] ?? 0) + 1;
    lastTools.push(name);
  }
  const tokens = (most: number) => Math.floor(random() * most);
  return {
    toolCalls,
    toolCallsByName,
    lastTools: lastTools.slice(-5),
    lastUpdate: at,
    tokens: {
      input: tokens(60_000),
      output: tokens(8_000),
      reasoning: tokens(4_000),
      cacheRead: tokens(400_000),
      cacheWrite: tokens(40_000),
    },
    cost: Math.round(random() * 10_000) / 10_000,
  };
}

function text(characters: number, random: Random): string {
  let written = pick(WORDS, random);
  while (written.length < characters) written += `${random() < 0.1 ? ".\n" : " "}${pick(WORDS, random)}`;
  return written.slice(0, characters);
}

function pick<T>(values: readonly T[], random: Random): T {
  return values[Math.floor(random() * values.length)] as T;
}
