/** A store that tells the history what a process writes: ends and beginnings of runs, and what becomes of notices. */
import { messageOf } from "../../src/model/errors.ts";
import type { TaskEvent } from "../../src/model/events.ts";
import type { Store, Transaction } from "../../src/store/store.ts";

type Tell = (text: string | (() => string)) => void;

/** Behaves as the store that it is given. */
export function toldStore(store: Store, tell: Tell, reaches: (what: string) => void = () => {}): Store {
  const told = <T>(what: string, work: Promise<T>): Promise<T> => {
    reaches(what);
    work.then(
      (value) => {
        const outcome = outcomeText(value);
        if (outcome !== null) tell(() => `${what}: ${outcome}`);
      },
      (thrown: unknown) => tell(() => `${what}: ${messageOf(thrown)}`),
    );
    return work;
  };
  return {
    ...store,
    apply: (id, event, expected, spans) =>
      event.type === "run.progressed"
        ? store.apply(id, event, expected, spans)
        : told(`${eventText(event)} of ${id}`, store.apply(id, event, expected, spans)),
    write: (work) => store.write((transaction) => work(toldTransaction(transaction, tell, reaches))),
    claimNotices: (parent, claim) =>
      told(`claims notices of ${parent} for ${claim.messageId}`, store.claimNotices(parent, claim)),
    reclaimNotices: (messageId, claim) =>
      told(`takes over ${messageId} from ${claim.from.sender}`, store.reclaimNotices(messageId, claim)),
    settleNotices: (messageId, from, outcome) =>
      told(`notices of ${messageId} are ${outcome.state}`, store.settleNotices(messageId, from, outcome)),
    dropNotices: (parent, reason, at) => told(`drops the notices of ${parent}`, store.dropNotices(parent, reason, at)),
    putParent: (parent) => told(`handles ${parent.sessionId}`, store.putParent(parent)),
    queue: {
      ...store.queue,
      claim: (request) => told("claims runs", store.queue.claim(request)),
      enqueue: (run, event) => told(`${eventText(event)} of ${run.taskId}, queued`, store.queue.enqueue(run, event)),
      begin(claim, event) {
        reaches(event.type);
        reaches("begins claim");
        const what = `${eventText(event)} of ${claim.taskId}, by claim ${claim.fence}`;
        return told(what, store.queue.begin(claim, event));
      },
      extend: (claims, lease) => {
        reaches("extends claims");
        return store.queue.extend(claims, lease);
      },
      release: (claim) => told(`gives back ${claim.taskId}`, store.queue.release(claim)),
    },
    endInstance: (id) => told(`instance ${id} ends`, store.endInstance(id)),
    expireInstance: (id) => told(`the lease of ${id} is over`, store.expireInstance(id)),
    addInstance: (instance, leaseMs) => told(`is instance ${instance.id}`, store.addInstance(instance, leaseMs)),
  };
}

function toldTransaction(transaction: Transaction, tell: Tell, reaches: (what: string) => void): Transaction {
  return {
    ...transaction,
    apply(id, event, expected) {
      reaches(event.type);
      tell(() => `in a transaction: ${eventText(event)} of ${id}`);
      return transaction.apply(id, event, expected);
    },
    openLaunch(launch) {
      reaches("opens launch");
      tell(() => `in a transaction: opens launch ${launch.id}`);
      return transaction.openLaunch(launch);
    },
    begin(claim) {
      reaches("begins claim");
      tell(() => `in a transaction: begins ${claim.taskId} by claim ${claim.fence}`);
      return transaction.begin(claim);
    },
    closeLaunch(id, by) {
      tell(() => `in a transaction: closes launch ${id}`);
      return transaction.closeLaunch(id, by);
    },
  };
}

/** Null for what is not worth a line: nothing was found, nothing changed. */
function outcomeText(value: unknown): string | null {
  if (Array.isArray(value)) return value.length === 0 ? null : `${value.length} of them`;
  if (typeof value !== "object" || value === null || !("changed" in value)) return "done";
  if (value.changed === true) return "written";
  const reason = "reason" in value ? String(value.reason) : "";
  return reason === "no_change" ? null : `refused: ${reason}`;
}

function eventText(event: TaskEvent): string {
  const { type, ...rest } = event;
  const shown: string[] = [type];
  for (const key of ["run", "owner", "phase", "result", "error", "reason", "messageId"]) {
    if (key in rest) shown.push(`${key} ${JSON.stringify((rest as Record<string, unknown>)[key])}`);
  }
  return shown.join(", ");
}
