/**
 * How fast a change reaches many readers, in interleaved rounds: ours from the commit, the bare server from the call,
 * with the same bytes on both sides. Then how fast another process's change reaches one reader. Times in ms.
 */
import { sqliteStore } from "../../src/store/open.ts";
import { newTask } from "../../src/testing/sample-task.ts";
import { type Child, sharedNow, startChild } from "../child-process.ts";
import { quantile, seededRandom } from "../statistics.ts";
import type { BareEventCalls } from "./bare-event-server.ts";
import type { StatusServerCalls } from "./server.ts";
import { progressOf, storedTask } from "./stored-tasks.ts";
import type { StreamClientCalls } from "./stream-clients.ts";

export interface EventOptions {
  /** A folder with a store. */
  directory: string;
  folder: string;
  readers: number;
  rounds: number;
  foreignChanges: number;
  onProgress(line: string): void;
}

/** How long an event took to each reader of one round. */
export interface EventRound {
  ours: number[];
  theirs: number[];
}

export interface EventFigures {
  rounds: EventRound[];
  bytes: number;
  /** How long each change of another process took. */
  foreign: number[];
}

interface Stage {
  ours: Child<StatusServerCalls>;
  bare: Child<BareEventCalls>;
  clients: Child<StreamClientCalls>;
}

const WARM_UPS = 3;
const REST_MS = 150;
const TASK = "ses_benchlive";
/** The pause between changes of another process: never in step with the polling for them. */
const MIN_PAUSE_MS = 150;
const PAUSE_SPREAD_MS = 200;

export async function measureEvents(options: EventOptions): Promise<EventFigures> {
  const stage: Stage = {
    ours: startChild<StatusServerCalls>("./status/server.ts", options.folder),
    bare: startChild<BareEventCalls>("./status/bare-event-server.ts", options.folder),
    clients: startChild<StreamClientCalls>("./status/stream-clients.ts", options.folder),
  };
  try {
    const url = await stage.ours.call("start", { directory: options.directory });
    const bareUrl = await stage.bare.call("start", {});
    await stage.ours.call("apply", { id: TASK, event: begun() });
    await stage.clients.call("open", { name: "foreign", url, count: 1 });
    const foreign = await measureForeign(stage, options);
    await stage.clients.call("open", { name: "ours", url, count: options.readers });
    await stage.clients.call("open", { name: "theirs", url: bareUrl, count: options.readers });
    const figures = await runRounds(stage, options);
    const end = { type: "run.completed", at: Date.now(), run: 0, result: "done", progress: null } as const;
    await stage.ours.call("apply", { id: TASK, event: end });
    return { ...figures, foreign };
  } finally {
    for (const child of Object.values(stage)) await child.stop();
  }
}

/** A task launched by a person: nobody has to be notified of its end. */
function begun() {
  const { made } = storedTask(0);
  const prompt = made.type === "task.created" ? made.task.prompt : "";
  const fields = {
    host: "opencode",
    description: "watch a task live",
    prompt,
    parentSessionId: "",
    parentMessageId: "",
  };
  return { type: "task.created", at: Date.now(), task: newTask(TASK, fields) } as const;
}

function progressed(random: () => number) {
  const at = Date.now();
  return { type: "run.progressed", at, run: 0, progress: progressOf(at, random) } as const;
}

async function runRounds(stage: Stage, options: EventOptions): Promise<Pick<EventFigures, "rounds" | "bytes">> {
  const rounds: EventRound[] = [];
  const random = seededRandom(1);
  let text = "data: {}\n\n";
  const takes = {
    async ours() {
      const at = await stage.ours.call("apply", { id: TASK, event: progressed(random) });
      return { at, arrived: await stage.clients.call("arrivals", { name: "ours" }) };
    },
    async theirs() {
      const at = await stage.bare.call("send", { text });
      return { at, arrived: await stage.clients.call("arrivals", { name: "theirs" }) };
    },
  };
  for (let index = -WARM_UPS; index < options.rounds; index++) {
    const round: EventRound = { ours: [], theirs: [] };
    for (const side of index % 2 === 0 ? (["ours", "theirs"] as const) : (["theirs", "ours"] as const)) {
      await stage.clients.call("expect", { name: side });
      await Bun.sleep(REST_MS);
      const { at, arrived } = await takes[side]();
      round[side] = arrived.at.map((time) => time - at);
      if (side === "ours") text = arrived.text;
    }
    if (index >= 0) rounds.push(round);
    const tail = (times: number[]) => `${quantile(times, 0.5).toFixed(1)} / ${quantile(times, 0.99).toFixed(1)} ms`;
    const name = index < 0 ? "warm-up" : `round ${index + 1} of ${options.rounds}`;
    options.onProgress(`${name}: p50 / p99 ours ${tail(round.ours)}, bare ${tail(round.theirs)}`);
  }
  return { rounds, bytes: Buffer.byteLength(text) };
}

/** Changes made by this process, as seen by a reader of the other process's stream. */
async function measureForeign({ clients }: Stage, options: EventOptions): Promise<number[]> {
  const store = await sqliteStore({ directory: options.directory });
  const random = seededRandom(2);
  const times: number[] = [];
  try {
    for (let index = 0; index < options.foreignChanges; index++) {
      await clients.call("expect", { name: "foreign" });
      await Bun.sleep(MIN_PAUSE_MS + random() * PAUSE_SPREAD_MS);
      const outcome = await store.apply(TASK, progressed(random));
      const at = sharedNow();
      if (!outcome.changed) throw new Error("A change of another process was refused.");
      const [arrivedAt = Number.NaN] = (await clients.call("arrivals", { name: "foreign" })).at;
      times.push(arrivedAt - at);
    }
  } finally {
    await store.close();
  }
  options.onProgress(`${times.length} changes of another process`);
  return times;
}
