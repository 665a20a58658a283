/**
 * Child process: bare pg-boss. A job carries the prompt and gets the result as its output: without a table of tasks
 * there is no other place for them. As in our runner, one loop fetches as many jobs as there is room for. It looks
 * whenever a job was sent or completed, which is faster than pg-boss's own `work()`. pg-boss has as many connections as
 * our store, and its maintenance is off during the rounds. The variant: what was done while an earlier completion was
 * under way is completed with one call, which a program can do that need not know of each job.
 */
import { PgBoss } from "pg-boss";
import { answerCalls } from "../../child-process.ts";
import { PROMPT, perSecond, RESULT, type Round, type SideCalls, sendAll } from "./side.ts";

const QUEUE = "runs";
const CONNECTIONS = 10;

let boss: PgBoss | null = null;

const calls: SideCalls = {
  async open({ connectionString, schema }) {
    boss = new PgBoss({ connectionString, schema, max: CONNECTIONS, supervise: false, schedule: false });
    boss.on("error", (error) => console.error(error));
    await boss.start();
    await boss.createQueue(QUEUE);
  },
  async round(input) {
    const opened = bossOf();
    const worker = new Worker(opened, input);
    const started = performance.now();
    await sendAll(input, async (number) => {
      await opened.send(QUEUE, { description: `look into the build, ${number}`, prompt: PROMPT });
      worker.look();
    });
    await worker.done;
    return perSecond(input, started);
  },
  async close() {
    await bossOf().stop({ graceful: false });
  },
};

function bossOf(): PgBoss {
  if (boss === null) throw new Error("It was not opened.");
  return boss;
}

class Worker {
  readonly #boss: PgBoss;
  readonly #round: Round;
  readonly #all = Promise.withResolvers<void>();
  #atWork = 0;
  #completed = 0;
  #isLooking = false;
  #isDue = false;
  /** Done and not completed; only where completions are gathered. */
  #doneJobs: string[] = [];
  #isCompleting = false;

  constructor(boss: PgBoss, round: Round) {
    this.#boss = boss;
    this.#round = round;
  }

  get done(): Promise<void> {
    return this.#all.promise;
  }

  look(): void {
    // A look after the last job would take jobs of the next round.
    if (this.#completed === this.#round.jobs) return;
    this.#isDue = true;
    if (!this.#isLooking) this.#try(this.#fetch());
  }

  async #fetch(): Promise<void> {
    this.#isLooking = true;
    while (this.#isDue && this.#atWork < this.#round.atOnce) {
      this.#isDue = false;
      const jobs = await this.#boss.fetch(QUEUE, { batchSize: this.#round.atOnce - this.#atWork });
      this.#atWork += jobs.length;
      for (const { id } of jobs) this.#try(this.#round.kind === "plain" ? this.#complete([id]) : this.#gather(id));
    }
    this.#isLooking = false;
    this.#endIfAllDone();
  }

  async #gather(id: string): Promise<void> {
    this.#doneJobs.push(id);
    if (this.#isCompleting) return;
    this.#isCompleting = true;
    while (this.#doneJobs.length > 0) await this.#complete(this.#doneJobs.splice(0));
    this.#isCompleting = false;
  }

  async #complete(ids: string[]): Promise<void> {
    await this.#boss.complete(QUEUE, ids, { result: RESULT });
    this.#atWork -= ids.length;
    this.#completed += ids.length;
    this.#endIfAllDone();
    this.look();
  }

  #endIfAllDone(): void {
    if (this.#completed === this.#round.jobs && !this.#isLooking) this.#all.resolve();
  }

  #try(work: Promise<void>): void {
    work.catch((thrown) => this.#all.reject(thrown));
  }
}

answerCalls(calls);
