/** The faults that strike a process or the whole machine, at moments that the seed chooses. */

import type { Role } from "../roles/role.ts";
import { LEASE_MS } from "../time/promised.ts";
import type { Random } from "../time/random.ts";
import type { Fault } from "../world/faults.ts";
import type { SimulatedProcess } from "../world/simulated-process.ts";
import type { Stage } from "./stage.ts";

/** Usually in the middle of what the process does next. */
const WAITS = 60;
const RESTART_MS = 30_000;
const FROZEN_MS = 150_000;
/** Others wait 15 s for the lock. */
const LOCKED_MS = 40_000;
const SILENT_MS = 280_000;
const CUT_MS = 150_000;
/** How soon a person goes on elsewhere with what a dead process did. */
const ELSEWHERE_MS = 6_000;

/** The steps of a launch, an end, a delivery and a recovery: what strikes in one of them is seldom met by chance. */
const AIMS = [
  "opens launch",
  "start",
  "fork",
  "task.created",
  "task.resumed",
  "prompt",
  "abort",
  "run.",
  "run.completed",
  "claims notices",
  "notify",
  "notices of",
  "takes over",
  "task.adopted",
  "find launch",
] as const;
/** Where there are runners, also the steps of a claim. */
const FLEET_AIMS = [...AIMS, "claims runs", "extends claims", "gives back", "task.claimed", "begins claim"] as const;
/** Most often the call itself or its answer, sometimes what follows. */
const AIMED_WAITS = 16;

/** Between a claim and the beginning of its run. */
const CLAIM_AIMS = ["find launch", "find launch", "start", "gives back"] as const;
const OVERLAP_MS = 25_000;

const RECOVERY_AIMS = ["inspect", "inspect", "find launch", "task.adopted", "takes over"] as const;
const HELD_UP_MS = 30_000;

type Disaster = (stage: Stage, random: Random) => void;

export const DISASTERS: Partial<Record<Fault, Disaster>> = {
  "process dies"(stage, random) {
    const role = random.pick(stage.roles);
    strike(stage, role.process, random, () => kill(stage, role, random, "dies"));
  },
  "process dies in a transaction"(stage, random) {
    const role = random.pick(stage.roles);
    const blow = () => kill(stage, role, random, "dies in a transaction");
    role.process.strikeInTransaction(blow);
  },
  "process freezes"(stage, random) {
    const { process } = random.pick(stage.roles);
    const ms = random.whole(100, FROZEN_MS);
    strike(stage, process, random, () => {
      stage.machine.faults.count("process freezes");
      freeze(stage, process, ms);
    });
  },
  "process freezes in a transaction"(stage, random) {
    const { process } = random.pick(stage.roles);
    const ms = random.whole(100, LOCKED_MS);
    process.strikeInTransaction(() => {
      stage.machine.faults.count("process freezes in a transaction");
      freeze(stage, process, ms);
    });
  },
  "agent program dies"({ machine, roles }, random) {
    const hosts = roles.flatMap((role) => (role.process.isAlive ? role.hosts() : []));
    if (hosts.length === 0) return;
    machine.faults.count("agent program dies");
    machine.struck("machine", "agent program dies");
    random.pick(hosts).killProgram();
  },
  "host does not answer"({ machine, roles }, random) {
    const hosts = roles.flatMap((role) => (role.process.isAlive ? role.hosts() : []));
    if (hosts.length === 0) return;
    const ms = random.whole(1_000, SILENT_MS);
    machine.faults.count("host does not answer");
    machine.struck("machine", "host does not answer", ms);
    machine.troubles.add(machine.timeline.now, ms);
    random.pick(hosts).silence(ms);
  },
  "machine sleeps"({ machine }, random) {
    const ms = random.whole(60_000, 600_000);
    const asleep = machine.living.filter(({ isFrozen }) => !isFrozen);
    machine.faults.count("machine sleeps");
    machine.struck("machine", "sleeps", ms);
    machine.troubles.add(machine.timeline.now, ms);
    for (const process of asleep) {
      machine.hinder(process.name, machine.timeline.now + ms);
      process.freeze();
    }
    machine.timeline.schedule(ms, () => {
      for (const process of asleep) process.thaw();
    });
  },
  "clock jumps"({ machine }, random) {
    const skew = random.whole(-3_600_000, 3_600_000);
    const place = random.pick(machine.places.names);
    machine.faults.count("clock jumps");
    machine.struck(place || "machine", "clock jumps", skew);
    machine.places.setWallClock(place, skew);
  },
  "machine is cut off"({ machine }, random) {
    if (!machine.places.areSeveral) return;
    const ms = random.whole(1_000, CUT_MS);
    const place = random.pick(machine.places.names);
    machine.faults.count("machine is cut off");
    machine.struck(place, "is cut off", ms);
    machine.troubles.add(machine.timeline.now, ms);
    machine.places.cut(place, machine.timeline.now + ms);
    machine.hinder(place, machine.timeline.now + ms);
  },
  "machine is gone for good"(stage, random) {
    const { machine, roles } = stage;
    const place = machine.places.ofRole("opencode-b");
    // The first one has the daemon, and must stay.
    if (!machine.places.areSeveral || machine.places.isLost(place)) return;
    const blow = () => {
      machine.faults.count("machine is gone for good");
      machine.struck(place, "is gone for good");
      machine.places.lose(place, machine.timeline.now);
      for (const { process } of roles) if (process.place === place) process.die();
    };
    const role = roles.find(({ process }) => process.place === place);
    if (role?.process.isAlive) strike(stage, role.process, random, blow);
  },
  "process freezes past its lease"(stage, random) {
    if (!stage.machine.places.areSeveral) return;
    const { process } = random.pick(stage.roles);
    const ms = random.whole(LEASE_MS, FROZEN_MS);
    strike(stage, process, random, () => {
      stage.machine.faults.count("process freezes past its lease");
      freeze(stage, process, ms);
    });
  },
  "runner freezes past its claim"(stage, random) {
    const { machine, runners, queue } = stage;
    if (queue === null) return;
    const runner = random.pick(runners);
    const { process } = runner;
    const others = runners.filter((role) => role !== runner);
    const ms = queue.claimMs + random.whole(0, OVERLAP_MS);
    const aim = random.pick(CLAIM_AIMS);
    if (aim === "gives back") runner.refuseNext();
    process.strikeAt(aim, random.whole(1, 3), () => {
      machine.faults.count("runner freezes past its claim");
      freeze(stage, process, ms);
      // Who claims the run next is slow as well: both think that it is theirs.
      for (const other of others) {
        const slowMs = random.whole(1_000, OVERLAP_MS);
        other.process.strikeAt(random.pick(CLAIM_AIMS), random.whole(1, 3), () => freeze(stage, other.process, slowMs));
      }
    });
  },
  "database is away"({ machine }, random) {
    if (!machine.places.areSeveral) return;
    const ms = random.whole(1_000, CUT_MS);
    machine.faults.count("database is away");
    machine.troubles.add(machine.timeline.now, ms);
    // Nothing alone keeps a machine from renewing its leases: nobody may be ended for that.
    for (const place of machine.places.names) {
      machine.struck(place, "is cut off", ms);
      machine.places.cut(place, machine.timeline.now + ms);
    }
  },
  "disk is full"({ machine }, random) {
    const ms = random.whole(1_000, 120_000);
    machine.faults.count("disk is full");
    machine.struck("machine", "disk is full", ms);
    machine.troubles.add(machine.timeline.now, ms);
    machine.fillDisk(machine.timeline.now + ms);
  },
};

/** Half of the time at one of the aims. */
function strike({ queue }: Stage, process: SimulatedProcess, random: Random, blow: () => void): void {
  if (random.chance(0.5)) process.strike(random.whole(1, WAITS), blow);
  else process.strikeAt(random.pick(queue === null ? AIMS : FLEET_AIMS), 1 + random.delay(AIMED_WAITS), blow);
}

function kill(stage: Stage, role: Role, random: Random, how: "dies" | "dies in a transaction"): void {
  const { machine } = stage;
  const { process } = role;
  const ms = random.delay(RESTART_MS);
  machine.faults.count(`process ${how}`);
  machine.struck(process.name, "dies");
  machine.lacks(role.name, ms);
  process.die();
  machine.timeline.schedule(ms, () => role.restart());
  if (random.chance(0.5)) machine.timeline.schedule(random.whole(0, ELSEWHERE_MS), () => goOn(stage, process.pid));
  if (machine.faults.has("process freezes") && random.chance(0.5)) holdUpRecovery(stage, random);
}

/** One of those that recover what the dead process left stands still in the middle of that: others are faster. */
function holdUpRecovery(stage: Stage, random: Random): void {
  const { process } = random.pick(stage.roles);
  const ms = random.whole(100, HELD_UP_MS);
  process.strikeAt(random.pick(RECOVERY_AIMS), 1 + random.delay(3), () => {
    stage.machine.faults.count("process freezes");
    freeze(stage, process, ms);
  });
}

function freeze({ machine }: Stage, process: SimulatedProcess, ms: number): void {
  const { timeline, troubles } = machine;
  const over = troubles.add(timeline.now, ms);
  machine.struck(process.name, "freezes", ms);
  machine.hinder(process.name, timeline.now + ms);
  process.freeze(() => over(timeline.now));
  timeline.schedule(ms, () => process.thaw());
}

/** A person opens a session of a dead process in another program, and writes there. */
async function goOn({ machine, truth, openCodes }: Stage, pid: number): Promise<void> {
  const owners = (await truth.instances()).filter((instance) => instance.pid === pid).map(({ id }) => id);
  const { tasks } = await truth.tasks({ status: ["running", "resumed"], limit: 50 });
  const left = tasks.filter(
    ({ owner, sessionId }) => owners.includes(owner ?? "") && machine.places.ofSession(sessionId),
  );
  // Rather one that was not prompted yet: nothing but the person's turn is in its session.
  const task = left.find(({ run }) => machine.work.of(run.messageId).sentBy.length === 0) ?? left[0];
  const place = machine.places.ofSession(task?.sessionId ?? "");
  const isOpen = ({ process }: Role) => process.isAlive && !process.isFrozen && process.place === place;
  const host = openCodes.find(isOpen)?.hosts()[0];
  if (!task || !host || machine.faults.isHealed) return;
  machine.written.add(task.sessionId);
  const message = { id: machine.places.sessionsWith(task.sessionId).newId("msg"), text: "go on", hidden: null };
  host.program.add(task.sessionId, message, true);
}
