/** The faults that strike a process or the whole machine, at moments that the seed chooses. */
import type { Random } from "../time/random.ts";
import type { Fault } from "../world/faults.ts";
import type { Stage } from "./stage.ts";

/** Usually in the middle of what the process does next. */
const WAITS = 60;
const RESTART_MS = 30_000;
const FROZEN_MS = 150_000;

type Disaster = (stage: Stage, random: Random) => void;

export const DISASTERS: Partial<Record<Fault, Disaster>> = {
  "process dies"(stage, random) {
    const { machine } = stage;
    const role = random.pick(stage.roles);
    const { process } = role;
    process.strike(random.whole(1, WAITS), () => {
      const ms = random.delay(RESTART_MS);
      machine.struck(process.name, "dies");
      machine.troubles.add(machine.timeline.now, ms);
      process.die();
      machine.timeline.schedule(ms, () => role.restart());
    });
  },
  "process freezes"({ machine, roles }, random) {
    const { process } = random.pick(roles);
    const ms = random.whole(100, FROZEN_MS);
    process.strike(random.whole(1, WAITS), () => {
      machine.struck(process.name, "freezes", ms);
      machine.troubles.add(machine.timeline.now, ms);
      process.freeze();
      machine.timeline.schedule(ms, () => process.thaw());
    });
  },
  "agent program dies"({ machine, roles }, random) {
    const hosts = roles.flatMap((role) => (role.process.isAlive ? role.hosts() : []));
    if (hosts.length === 0) return;
    machine.struck("machine", "agent program dies");
    random.pick(hosts).killProgram();
  },
  "machine sleeps"({ machine }, random) {
    const ms = random.whole(60_000, 600_000);
    const asleep = machine.living.filter(({ isFrozen }) => !isFrozen);
    machine.struck("machine", "sleeps", ms);
    machine.troubles.add(machine.timeline.now, ms);
    for (const process of asleep) process.freeze();
    machine.timeline.schedule(ms, () => {
      for (const process of asleep) process.thaw();
    });
  },
  "clock jumps"({ machine }, random) {
    const skew = random.whole(-3_600_000, 3_600_000);
    machine.struck("machine", "clock jumps", skew);
    machine.setWallClock(skew);
  },
  "disk is full"({ machine }, random) {
    const ms = random.whole(1_000, 120_000);
    machine.struck("machine", "disk is full", ms);
    machine.troubles.add(machine.timeline.now, ms);
    machine.fillDisk(true);
    machine.timeline.schedule(ms, () => machine.fillDisk(false));
  },
};
