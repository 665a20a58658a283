/**
 * Mistakes that a programmer might make in recovery, the store and the outbox, each of which breaks a promise.
 */
import type { PutBack } from "./put-back.ts";

export const RECOVERY_MUTATIONS: readonly PutBack[] = [
  {
    name: "launches-not-recovered",
    fault: "Recovery ignores launches that dead processes left.",
    edits: [
      {
        file: "src/engine/recovery/orphans.ts",
        old: "launches: launches.filter((launch) => !isOwned(launch)),",
        new: "launches: launches.filter(() => false),",
      },
    ],
  },
  {
    name: "unread-counts-as-deleted",
    fault: "Recovery says that a session was deleted that it only could not read.",
    edits: [
      {
        file: "src/engine/recovery/recovery.ts",
        old: "if (isSessionGone(thrown)) return null;\n      throw thrown;",
        new: "void thrown;\n      return null;",
      },
    ],
  },
  {
    name: "recovery-without-evidence",
    fault: "Recovery calls every run of a dead process interrupted, also one that was answered.",
    edits: [
      {
        file: "src/model/evidence.ts",
        old: "if (evidence.answer || evidence.error) return judge(evidence, null);",
        new: "",
      },
    ],
  },
  {
    name: "recovery-once",
    fault: "A process looks for what others left only when it starts.",
    edits: [
      {
        file: "src/engine/supervisor.ts",
        old: "      if (hasOthers) this.recoverLater();\n      else if (!isDone)",
        new: "      void hasOthers;\n      if (!isDone)",
      },
    ],
  },
  {
    name: "only-known-dead",
    fault: "A live task whose owner is not registered any more counts as owned.",
    edits: [
      {
        file: "src/engine/recovery/orphans.ts",
        old: "const isOwned = ({ owner }: { owner: string | null }) => owner !== null && alive.has(owner);",
        new: `const isOwned = ({ owner }: { owner: string | null }) =>
    owner !== null && (alive.has(owner) || !instances.some(({ id }) => id === owner));`,
      },
    ],
  },
  {
    name: "heartbeat-judged-early",
    fault: "A heartbeat that stands still for five seconds counts as stopped.",
    edits: [{ file: "src/process/liveness.ts", old: "const STALE_MS = 60_000;", new: "const STALE_MS = 5_000;" }],
  },
];

export const STORE_MUTATIONS: readonly PutBack[] = [
  {
    name: "notice-afterwards",
    fault: "The notice of an end is written in a transaction of its own, after the end.",
    edits: [
      {
        file: "src/store/tasks/writes.ts",
        old: "    notice && addNotice(kysely, after, notice, event.at),\n",
        new: "",
      },
      { file: "src/store/tasks/writes.ts", old: 'import { addNotice } from "./notices.ts";\n', new: "" },
      {
        file: "src/store/kysely-store.ts",
        old: "import {\n  claimNotices,",
        new: "import {\n  addNotice,\n  claimNotices,",
      },
      {
        file: "src/store/kysely-store.ts",
        old: "apply: (id, event, expected, spans) => apply({ id, event, expected, spans }),",
        new: `apply: async (id, event, expected) => {
      const outcome = await apply({ id, event, expected });
      if (outcome.changed && outcome.notice !== null) {
        const { task, notice } = outcome;
        await write((kysely) => addNotice(kysely, task, notice, event.at));
      }
      return outcome;
    },`,
      },
    ],
  },
  {
    name: "claim-in-two-steps",
    fault: "Notices are chosen before the transaction that claims them: two processes claim the same ones.",
    edits: [
      {
        file: "src/store/kysely-store.ts",
        old: 'const pending = await read((kysely) => readNotices(kysely, parent, "pending", 1));',
        new: 'const pending = await read((kysely) => readNotices(kysely, parent, "pending", 1_000));',
      },
      {
        file: "src/store/kysely-store.ts",
        old: "write((kysely) => claimNotices(kysely, parent, claim));",
        new: "write((kysely) => claimNotices(kysely, pending, claim));",
      },
      {
        file: "src/store/tasks/notices.ts",
        old: "  parentSessionId: string,\n  claim: NoticeClaim,",
        new: "  pending: readonly Notice[],\n  claim: NoticeClaim,",
      },
      {
        file: "src/store/tasks/notices.ts",
        old: `  const [, sending, due] = await together([
    lock(kysely, "parent", parentSessionId),
    readNotices(kysely, parentSessionId, "sending", 1),
    selectDue(kysely, { parentSessionId }),
  ]);
  if (sending.length > 0) return [];
  const pending = due.map(noticeOf);
`,
        new: "",
      },
      {
        file: "src/store/tasks/notices.ts",
        old: `    // One that was dropped meanwhile stays dropped.
    .where("state", "=", "pending")
`,
        new: "",
      },
    ],
  },
  {
    name: "feed-skips-phases",
    fault: "A change of the phase is stored without an entry in the feed.",
    edits: [
      {
        file: "src/store/tasks/writes.ts",
        old: "const appended = appendEvent(kysely, id, event.type, json);",
        new: 'const appended = event.type === "run.phased" ? null : appendEvent(kysely, id, event.type, json);',
      },
    ],
  },
  {
    name: "run-row-not-updated",
    fault: "The end of a run is written into its task, and not into its own row.",
    edits: [
      {
        file: "src/store/tasks/writes.ts",
        old: "  await updateRun(kysely, changing);",
        new: "  void [changing, updateRun];",
      },
    ],
  },
  {
    name: "owner-not-compared",
    fault: "The store takes what any process writes about a live task, whoever owns it.",
    edits: [
      {
        file: "src/store/tasks/writes.ts",
        old: "if (task.owner !== owner || task.fence !== fence) return false;",
        new: "if (task === null && fence === 0) return false;",
      },
    ],
  },
  {
    name: "ended-twice",
    fault: "The end of a run that has ended already is written over the first.",
    edits: [
      {
        file: "src/model/transition.ts",
        old: '  if (!isLive(task.status)) return refused(task, "ended");',
        new: '  if (!isLive(task.status) && !event.type.startsWith("run.c")) return refused(task, "ended");',
      },
    ],
  },
];

export const NOTICE_MUTATIONS: readonly PutBack[] = [
  {
    name: "delivered-before-sent",
    fault: "A notice is recorded as delivered before it is sent.",
    edits: [
      {
        file: "src/engine/notices/delivery.ts",
        old: "    try {\n      await this.#send(",
        new: '    await this.#settle(parentSessionId, group, { state: "delivered", reason: null });\n    try {\n      await this.#send(',
      },
    ],
  },
  {
    name: "doubtful-with-new-id",
    fault: "Notices whose message may have arrived are sent again as another message.",
    edits: [
      {
        file: "src/engine/notices/delivery.ts",
        old: 'return groupOf(reclaimed, shown === "late", term) ?? "taken";',
        new: `const again = groupOf(reclaimed, shown === "late", term);
      return again === null ? "taken" : { ...again, messageId: this.#context.host.newMessageId() };`,
      },
    ],
  },
  {
    name: "old-notices-forgotten",
    fault: "Notices that were pending when a process started are not delivered.",
    edits: [
      {
        file: "src/engine/supervisor.ts",
        old: "      if (hasFound || this.#servesParents) await this.#tellParents();\n",
        new: "      void hasFound;\n",
      },
    ],
  },
];
