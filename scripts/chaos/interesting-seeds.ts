/**
 * Chooses the seeds of the simulator that are most worth playing on real programs: those with the most of what can
 * happen there, each new one with something that the chosen ones have little of. Only seeds that the simulator passes.
 */
import type { Plan } from "../../simulation/scenario/plan.ts";
import { type Played, play } from "../../simulation/scenario/play.ts";
import { SharedDatabase } from "../../simulation/world/shared-database.ts";

export interface InterestingSeed {
  why: string;
  plan: Plan;
}

/** When a chosen seed has the most of something, that counts half as much from then on. */
const FADING = 0.5;
const NAMED = 4;

interface Candidate {
  plan: Plan;
  /** How much it has of what is counted. */
  features: ReadonlyMap<string, number>;
}

/** In the words of the reason, with how to count it. */
const COUNTED: Record<string, (played: Played) => number> = {
  "kills of OpenCode": ({ plan }) => incidents(plan, "dies"),
  "freezes of OpenCode": ({ plan }) => incidents(plan, "freezes"),
  "sleeps of the machine": ({ plan }) => plan.incidents.filter(({ what }) => what === "sleeps").length,
  prompts: ({ plan }) => plan.turns.length,
  "runs interrupted": told(/run\.failed.*interrupted/),
  "tasks adopted": told(/task\.adopted/),
  "notices taken over": told(/takes over msg.*: [1-9]/),
  "doubtful prompts": told(/ prompt msg.*(lost|late)/),
  "doubtful notices": told(/ notify .*(lost|late)/),
  "doubtful launches": told(/ (start|fork): .*(lost|late)/),
  "runs cancelled": told(/run\.cancelled.*: written/),
  resumes: told(/task\.resumed.*: written/),
  forks: told(/ fork: /),
  "deleted sessions": told(/action \d+ +a person deletes .*: done/),
  "requests answered": told(/action \d+ +a person answers .*: done/),
  "messages to tasks": told(/action \d+ +a person writes to a task's session: done/),
  "agents that hang": ({ plan }) => plan.turns.filter(({ end }) => end === "never").length,
  "agents that fail": ({ plan }) => plan.turns.filter(({ end }) => end === "error" || end === "nothing").length,
  "events lost": fault("event is lost"),
  "events late or twice": (played) => fault("event comes late")(played) + fault("event comes twice")(played),
  "status calls that lie": fault("status lies"),
  "kinds of faults": ({ faults }) => faults.size,
};

function incidents({ incidents: all }: Played["plan"], wanted: string): number {
  return all.filter(({ role, what }) => role.startsWith("opencode") && what === wanted).length;
}

function told(pattern: RegExp): (played: Played) => number {
  return ({ history }) => history.filter((line) => pattern.test(line)).length;
}

function fault(kind: Parameters<Played["faults"]["get"]>[0]): (played: Played) => number {
  return ({ faults }) => faults.get(kind) ?? 0;
}

/** Among the first seeds. */
export async function interestingSeeds(among: number, count: number): Promise<InterestingSeed[]> {
  const database = await SharedDatabase.open();
  const all: Candidate[] = [];
  for (let seed = 1; seed <= among; seed++) {
    const played = await play({ seed, database, keepHistory: true });
    if (played.violations.length > 0) continue;
    const features = new Map(Object.entries(COUNTED).map(([name, counted]) => [name, counted(played)]));
    all.push({ plan: played.plan, features });
    if (seed % 100 === 0) console.error(`  ${seed} of ${among} seeds`);
  }
  database.close();
  return choose(all, count);
}

function choose(all: readonly Candidate[], count: number): InterestingSeed[] {
  const most = new Map<string, number>();
  for (const { features } of all) {
    for (const [name, times] of features) most.set(name, Math.max(most.get(name) ?? 1, times));
  }
  const share = (name: string, times: number) => times / (most.get(name) ?? 1);
  const weights = new Map([...most.keys()].map((name) => [name, 1]));
  const left = new Set(all);
  const chosen: InterestingSeed[] = [];
  while (chosen.length < count && left.size > 0) {
    const scored = [...left].map((candidate) => {
      const parts = [...candidate.features].map(([name, times]) => {
        return { name, times, worth: (weights.get(name) ?? 0) * share(name, times) };
      });
      return { candidate, parts, total: parts.reduce((sum, { worth }) => sum + worth, 0) };
    });
    const { candidate, parts } = scored.reduce((one, other) => (other.total > one.total ? other : one));
    const top = parts.toSorted((one, other) => other.worth - one.worth).slice(0, NAMED);
    chosen.push({ why: top.map(({ name, times }) => `${name} (${times})`).join(", "), plan: candidate.plan });
    left.delete(candidate);
    for (const { name, times } of parts) weights.set(name, (weights.get(name) ?? 0) * FADING ** share(name, times));
  }
  return chosen;
}
