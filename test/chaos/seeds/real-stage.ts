/**
 * Everything that a seed plays with on real programs: two OpenCodes with the plugin on one HOME and one directory, the
 * scripted model, three parents, and what happened so far in words. `stop` leaves no process and no folder behind.
 */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { TurnPlan } from "../../../simulation/agents/turn-plan.ts";
import { planTurn } from "../../../simulation/agents/turn-plan.ts";
import type { Plan } from "../../../simulation/scenario/plan.ts";
import { Random } from "../../../simulation/time/random.ts";
import type { Task } from "../../../src/model/task.ts";
import type { Store } from "../../../src/store/store.ts";
import { type OpenAiModel, startOpenAiModel } from "../../../src/testing/models/openai-model.ts";
import { type Script, scriptMarker } from "../../../src/testing/models/script.ts";
import { createTemporaryRoot } from "../../../src/testing/opencode/home.ts";
import { type Parent, World } from "../../scenarios/world.ts";
import { RealProcess } from "./real-process.ts";
import { turnScript } from "./turn-script.ts";

/** A storm of five minutes takes 20 seconds. */
const SHORTER = 15;
/** How long OpenCode needs to start on an idle machine; on a slower one, everything takes longer. */
const START_MS = 3_000;
const SLOWEST = 2;
const PARENTS = 3;
/** Ends agents that hang. */
const MAX_MINUTES = 1;
const PLUGIN = pathToFileURL(join(import.meta.dir, "faulty-plugin.ts")).href;

export interface RealParent {
  parent: Parent;
  isDeleted: boolean;
}

/** A prompt that an agent got, or would have got. */
export interface GivenPrompt {
  name: string;
  plan: TurnPlan;
  /** The session that a person wrote it to; null for the prompt of a run. */
  writtenTo: string | null;
  /** The position of the last answer in its script. */
  lastStep: number;
}

export class RealStage {
  readonly plan: Plan;
  readonly random: Random;
  readonly model: OpenAiModel;
  readonly processes: RealProcess[] = [];
  readonly parents: RealParent[] = [];
  /** What people were promised: tasks, and resumes as `task run`. */
  readonly launched = new Set<string>();
  readonly resumed = new Set<string>();
  readonly prompts = new Map<string, GivenPrompt>();
  /** Actions that have begun and not ended. */
  readonly unanswered = new Set<string>();
  /** What this run could not do, and how often it should have. */
  readonly leftOut = new Map<string, number>();
  readonly counts = { kills: 0, freezes: 0 };
  readonly history: string[] = [];
  /** How much faster everything happens than in the simulator. */
  shorter = SHORTER;
  readonly #began = performance.now();
  #turns = 0;
  #folder = "";

  private constructor(plan: Plan) {
    this.plan = plan;
    this.random = new Random(plan.seed);
    this.model = startOpenAiModel();
  }

  static async start(plan: Plan): Promise<RealStage> {
    const stage = new RealStage(plan);
    try {
      await stage.#start();
      return stage;
    } catch (thrown) {
      await stage.stop();
      throw thrown;
    }
  }

  async #start(): Promise<void> {
    const { model } = this;
    this.#folder = await createTemporaryRoot();
    const stormFile = join(this.#folder, "storm");
    const options = { maxMinutes: MAX_MINUTES, toasts: false, stormFile };
    const settings = { model, options, plugin: PLUGIN, permission: { "*": "allow", bash: "ask" } } as const;
    const first = await World.start(settings);
    const tell = (who: string, what: string) => this.tell(who, what);
    this.processes.push(new RealProcess("opencode-a", first, tell));
    const { home, directory } = first.opencode;
    const second = await World.start({ ...settings, home, directory });
    this.processes.push(new RealProcess("opencode-b", second, tell));
    for (let count = 0; count < PARENTS; count++) {
      this.parents.push({ parent: await first.parent(), isDeleted: false });
    }
    await Promise.all([first.begun(), second.begun()]);
    const slowness = Math.min(SLOWEST, Math.max(1, first.opencode.timings.readyMs / START_MS));
    this.shorter = SHORTER / slowness;
    writeFileSync(stormFile, JSON.stringify({ seed: this.plan.seed, shorter: this.shorter }));
  }

  /** From now on nothing goes wrong. */
  heal(): void {
    this.tell("machine", "from now on nothing goes wrong");
    rmSync(join(this.#folder, "storm"));
    for (const process of this.processes) process.thaw();
  }

  async stop(): Promise<void> {
    for (const process of this.processes) process.thaw();
    // The first owns the HOME of all.
    for (const { world } of this.processes.toReversed()) await world.stop();
    await this.model.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get store(): Store {
    const [first] = this.processes;
    if (!first) throw new Error("Nothing was started.");
    return first.world.store;
  }

  readonly scale = (ms: number): number => Math.round(ms / this.shorter);

  tell(who: string, what: string): void {
    const seconds = ((performance.now() - this.#began) / 1000).toFixed(2).padStart(7);
    const line = `${seconds}  ${who.padEnd(11)} ${what}`;
    this.history.push(line);
    if (process.env.ASYNCAGENTS_CHAOS_HISTORY) console.log(line);
  }

  leaveOut(what: string, times = 1): void {
    this.leftOut.set(what, (this.leftOut.get(what) ?? 0) + times);
  }

  /** The prompt of the next run, with the next turn of the plan; returns its text. */
  nextPrompt(): string {
    const name = `run-${++this.#turns}`;
    const plan = this.plan.turns[this.#turns - 1] ?? planTurn(this.random.split(`turn ${name}`));
    return this.#prompt({ name, plan, writtenTo: null }, "Do the work.");
  }

  /** What a person writes to a task's session. Its turn always ends: no limit applies to it. */
  writtenPrompt(sessionId: string, random: Random): string {
    const planned = planTurn(random.split("turn"));
    const plan: TurnPlan = planned.end === "never" ? { ...planned, end: "answer" } : planned;
    return this.#prompt({ name: `written-${this.prompts.size}`, plan, writtenTo: sessionId }, "Also do this.");
  }

  #prompt(prompt: Omit<GivenPrompt, "lastStep">, text: string): string {
    const steps = turnScript(prompt.name, prompt.plan, this.scale);
    this.prompts.set(prompt.name, { ...prompt, lastStep: steps.length - 1 });
    return `${this.script(prompt.name, steps)} ${text}`;
  }

  /** Registers a script; returns its marker. */
  script(name: string, steps: Script): string {
    const full = `seed-${this.plan.seed}-${name}`;
    this.model.script(full, steps);
    return scriptMarker(full);
  }

  /** Processes that can act for a parent. */
  up(): RealProcess[] {
    return this.processes.filter(({ isUp }) => isUp);
  }

  livingParents(): RealParent[] {
    return this.parents.filter(({ isDeleted }) => !isDeleted);
  }

  async anyTask(random: Random, fits: (task: Task) => boolean): Promise<Task | null> {
    const { tasks } = await this.store.tasks({ limit: 200 });
    const fitting = tasks.filter(fits);
    return fitting.length === 0 ? null : random.pick(fitting);
  }
}
