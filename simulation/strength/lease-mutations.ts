/** Mistakes that a programmer might make where several machines share a store: in leases, fences and takeovers. */
import type { PutBack } from "./put-back.ts";

export const LEASE_MUTATIONS: readonly PutBack[] = [
  {
    name: "lease-of-two-minutes",
    fault: "A lease lasts four times as long as it is said to: what a dead process had is taken over late.",
    edits: [
      {
        file: "src/engine/recovery/lease.ts",
        old: "export const LEASE_MS = 30_000;",
        new: "export const LEASE_MS = 120_000;",
      },
    ],
  },
  {
    name: "taken-from-the-living",
    fault: "A live run is taken over although its owner is registered.",
    edits: [
      {
        file: "src/store/tasks/writes.ts",
        old: "return owner === null || owner === by || (await lockUnregistered(kysely, owner));",
        new: "return owner === null || owner === by || (await lockUnregistered(kysely, 'nobody'));",
      },
      {
        file: "src/engine/recovery/orphan-sweep.ts",
        old: "    await this.#endAll(found.dead);\n",
        new: "",
      },
    ],
  },
  {
    name: "ended-without-asking",
    fault: "An instance is ended because its lease was over when it was read, without asking the database again.",
    edits: [
      {
        file: "src/engine/recovery/orphans.ts",
        old: "  if (leaseLeft !== null && leaseLeft <= 0) return store.expireInstance(id);\n",
        new: "  void leaseLeft;\n",
      },
    ],
  },
  {
    name: "lease-judged-early",
    fault: "An instance on another machine counts as dead while a third of its lease is left.",
    edits: [
      {
        file: "src/process/liveness.ts",
        old: "return leaseLeft > 0 || now - steadySince < renewalMs;",
        new: "return leaseLeft > 10_000 || now - steadySince < renewalMs;",
      },
    ],
  },
  {
    name: "outage-ends-the-living",
    fault: "After an outage of the database, whoever looks first ends those that could not renew their leases.",
    edits: [
      {
        file: "src/process/liveness.ts",
        old: "return leaseLeft > 0 || now - steadySince < renewalMs;",
        new: "return leaseLeft > 0 || now - steadySince < 0 * renewalMs;",
      },
      {
        file: "src/engine/supervisor.ts",
        old: "return isLeaseOver && !this.#heartbeat.isSteady;",
        new: "return isLeaseOver && this.#heartbeat === null;",
      },
    ],
  },
  {
    name: "prompt-without-lease",
    fault: "A process that was frozen past its lease sends the prompt that it was about to send.",
    edits: [
      {
        file: "src/engine/runs/driven-run.ts",
        old: "if (lease === null || (lease.isHeld && lease.term === 0)) return true;",
        new: "if (lease !== undefined) return true;",
      },
    ],
  },
  {
    name: "notice-without-lease",
    fault: "A process that was frozen past its lease sends the notice that it was about to send.",
    edits: [
      {
        file: "src/engine/notices/delivery.ts",
        old: "return this.#lease?.isHeld !== false && this.#term === term;",
        new: "return this.#lease !== undefined || term === 0;",
      },
    ],
  },
  {
    name: "lease-counted-from-its-answer",
    fault: "A lease counts from the answer to its heartbeat, and has no margin.",
    edits: [
      {
        file: "src/engine/recovery/lease.ts",
        old: "      this.#held = sent;\n",
        new: "      this.#held = { awake: Math.max(monotonic(), sent.awake), wall: now() };\n",
      },
      { file: "src/engine/recovery/lease.ts", old: "const MARGIN_MS = 5_000;", new: "const MARGIN_MS = 0;" },
    ],
  },
  {
    name: "lost-runs-not-checked",
    fault: "A process that registers again acts before it has checked which runs are still its own.",
    edits: [
      {
        file: "src/engine/recovery/heartbeat.ts",
        old: "      if (this.#unverified.has(member)) await member.verify();\n",
        new: "",
      },
      {
        file: "src/engine/runs/driven-run.ts",
        old: "if (lease === null || (lease.isHeld && lease.term === 0)) return true;",
        new: "if (lease === null || lease.isHeld) return true;",
      },
    ],
  },
  {
    name: "remote-sessions-asked-here",
    fault: "A task of another machine is recovered by asking a host of this one, which does not know its session.",
    edits: [
      {
        file: "src/engine/recovery/orphan-sweep.ts",
        old: "return isSameMachine(machine, this.#context.machine);",
        new: 'return isSameMachine(machine, "") || this.#context.machine === machine;',
      },
    ],
  },
  {
    name: "remote-tasks-left-alone",
    fault: "Nobody ends the runs of a machine that is gone.",
    edits: [
      {
        file: "src/engine/recovery/orphan-sweep.ts",
        old: "    if (remote.length > 0) results.push(await this.#interrupt(remote));\n",
        new: "    void remote;\n",
      },
    ],
  },
  {
    name: "remote-parents-told-here",
    fault: "A process tells a parent on another machine, does not find it, and drops the notices.",
    edits: [
      {
        file: "src/engine/notices/outbox.ts",
        old: "    if (parent !== null && !isSameMachine(parent.machine, instance.machine)) return;\n",
        new: "    void isSameMachine;\n",
      },
    ],
  },
  {
    name: "fence-not-compared",
    fault: "Whoever owns a run again may write what was under way when it lost the run.",
    edits: [
      {
        file: "src/store/tasks/writes.ts",
        old: "if (task.owner !== owner || task.fence !== fence) return false;",
        new: "if (task.owner !== owner && fence !== null) return false;",
      },
      {
        file: "src/engine/runs/driven-run.ts",
        old: "task.owner === instance.id && task.fence === fence;",
        new: "task.owner === instance.id && fence !== null;",
      },
    ],
  },
  {
    name: "settled-by-anybody",
    fault: "Whoever has sent a group of notices settles it, although it has another sender by now.",
    edits: [
      {
        file: "src/store/tasks/notices.ts",
        old: `    .where("sender", sender === null ? "is" : "=", sender)
    .where("fence", "=", fence)
    .returning("id")`,
        new: `    .$if(sender === null && fence < 0, (query) => query.set({ sender }))
    .returning("id")`,
      },
    ],
  },
  {
    name: "notices-taken-from-the-living",
    fault: "Notices on their way are taken over from a sender that is registered.",
    edits: [
      {
        file: "src/store/tasks/notices.ts",
        old: "  if (from.sender !== null && from.sender !== sender && !(await lockUnregistered(kysely, from.sender))) return [];\n",
        new: "  void lockUnregistered;\n",
      },
      {
        file: "src/engine/notices/outbox.ts",
        old: "return known.id === instance.id || supervisor.lives(known) || !(await endDead(store, known));",
        new: "return known.id === instance.id || supervisor.lives(known) || endDead === undefined;",
      },
    ],
  },
  {
    name: "closed-launch-goes-on",
    fault: "A launch that others have closed becomes a task all the same.",
    edits: [
      {
        file: "src/engine/launch.ts",
        old: "if (!(await transaction.closeLaunch(id, instance.id))) throw launchClosed();",
        new: "await transaction.closeLaunch(id, instance.id);",
      },
    ],
  },
];
