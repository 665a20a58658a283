/**
 * A store that tells what this process wrote, after it is committed, and changes nothing else. Who writes the end of a
 * run is the only one who sees it here, whichever way it came about and whoever drove the run before: so it is told
 * once, however many processes there are. What came of a write whose answer was lost is not told.
 */
import type { TaskEvent } from "../../model/events.ts";
import { isLive, type Task } from "../../model/task.ts";
import type { Transition } from "../../model/transition.ts";
import type { Notice, Store, Transaction } from "../../store/store.ts";

export interface StoreListener {
  launched(task: Task): void;
  /** Its run had begun: it has a session. */
  ended(task: Task): void;
  /** A message with these notices was delivered, or is not sent any more; empty if others claimed them. */
  noticesSettled(state: "delivered" | "dropped", notices: readonly Notice[], at: number): void;
  instanceEnded(id: string): void;
}

interface Written {
  event: TaskEvent;
  outcome: Transition;
}

const ENDS: ReadonlySet<string> = new Set(["run.completed", "run.failed", "run.cancelled"]);
/** One message per parent is on its way at a time; those of others that died stay behind. */
const MOST_CLAIMED = 1_000;

export function observedStore(store: Store, listener: StoreListener): Store {
  /** By message. */
  const claimed = new Map<string, readonly Notice[]>();
  const claim = (messageId: string, notices: Notice[]): Notice[] => {
    if (notices.length > 0) claimed.set(messageId, notices);
    for (const oldest of claimed.keys()) if (claimed.size > MOST_CLAIMED) claimed.delete(oldest);
    return notices;
  };
  const tell = ({ event, outcome }: Written) => {
    if (!outcome.changed) return;
    const { task } = outcome;
    if (event.type === "task.created") listener.launched(task);
    else if (ENDS.has(event.type) && !isLive(task.status) && task.sessionId !== "") listener.ended(task);
  };
  const told = (event: TaskEvent) => (outcome: Transition) => {
    tell({ event, outcome });
    return outcome;
  };
  return {
    ...store,
    apply: (id, event, expected, spans) => store.apply(id, event, expected, spans).then(told(event)),
    queue: { ...store.queue, enqueue: (run, event) => store.queue.enqueue(run, event).then(told(event)) },
    async write(work) {
      let written: Written[] = [];
      const result = await store.write(async (transaction) => {
        // It may be rerun from its start, and nothing is stored if it rejects.
        written = [];
        const own: Written[] = [];
        const done = await work(noting(transaction, own));
        written = own;
        return done;
      });
      for (const each of written) tell(each);
      return result;
    },
    async claimNotices(parent, request) {
      return claim(request.messageId, await store.claimNotices(parent, request));
    },
    async reclaimNotices(messageId, request) {
      return claim(messageId, await store.reclaimNotices(messageId, request));
    },
    async settleNotices(messageId, from, outcome) {
      const isSettled = await store.settleNotices(messageId, from, outcome);
      const { state, at } = outcome;
      const notices = claimed.get(messageId) ?? [];
      claimed.delete(messageId);
      if (isSettled && (state === "delivered" || state === "dropped")) listener.noticesSettled(state, notices, at);
      return isSettled;
    },
    async endInstance(id) {
      await store.endInstance(id);
      listener.instanceEnded(id);
    },
  };
}

function noting(transaction: Transaction, written: Written[]): Transaction {
  return {
    ...transaction,
    async apply(id, event, expected) {
      const outcome = await transaction.apply(id, event, expected);
      written.push({ event, outcome });
      return outcome;
    },
  };
}
