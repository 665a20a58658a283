/** A store that tells the history what a process writes: ends and beginnings of runs, and what becomes of notices. */
import { messageOf } from "../../src/model/errors.ts";
import type { TaskEvent } from "../../src/model/events.ts";
import type { Store, Transaction } from "../../src/store/store.ts";

type Tell = (text: string | (() => string)) => void;

/** Behaves as the store that it is given. */
export function toldStore(store: Store, tell: Tell): Store {
  const told = <T>(what: string, work: Promise<T>, outcome: (value: T) => string): Promise<T> => {
    work.then(
      (value) => tell(() => `${what}: ${outcome(value)}`),
      (thrown: unknown) => tell(() => `${what}: ${messageOf(thrown)}`),
    );
    return work;
  };
  const words = (value: unknown) => {
    if (typeof value !== "object" || value === null) return String(value);
    if (Array.isArray(value)) return `${value.length}`;
    return "changed" in value
      ? value.changed
        ? "written"
        : `refused: ${"reason" in value ? value.reason : ""}`
      : "done";
  };
  return {
    ...store,
    apply: (id, event, expected) =>
      event.type === "run.progressed"
        ? store.apply(id, event, expected)
        : told(`${eventText(event)} of ${id}`, store.apply(id, event, expected), words),
    write: (work) => store.write((transaction) => work(toldTransaction(transaction, tell))),
    claimNotices: (parent, claim) =>
      told(`claims notices of ${parent} for ${claim.messageId}`, store.claimNotices(parent, claim), words),
    reclaimNotices: (messageId, claim) =>
      told(`takes over ${messageId} from ${claim.from}`, store.reclaimNotices(messageId, claim), words),
    settleNotices: (messageId, outcome) =>
      told(`notices of ${messageId} are ${outcome.state}`, store.settleNotices(messageId, outcome), words),
    dropNotices: (parent, reason, at) =>
      told(`drops the notices of ${parent}`, store.dropNotices(parent, reason, at), words),
    putParent: (parent) => told(`handles ${parent.sessionId}`, store.putParent(parent), words),
    endInstance: (id) => told(`instance ${id} ends`, store.endInstance(id), words),
    addInstance: (instance) => told(`is instance ${instance.id}`, store.addInstance(instance), words),
  };
}

function toldTransaction(transaction: Transaction, tell: Tell): Transaction {
  return {
    ...transaction,
    apply(id, event, expected) {
      tell(() => `in a transaction: ${eventText(event)} of ${id}`);
      return transaction.apply(id, event, expected);
    },
    openLaunch(launch) {
      tell(() => `in a transaction: opens launch ${launch.id}`);
      return transaction.openLaunch(launch);
    },
    closeLaunch(id) {
      tell(() => `in a transaction: closes launch ${id}`);
      return transaction.closeLaunch(id);
    },
  };
}

function eventText(event: TaskEvent): string {
  const { type, ...rest } = event;
  const shown: string[] = [type];
  for (const key of ["run", "owner", "phase", "result", "error", "reason", "messageId"]) {
    if (key in rest) shown.push(`${key} ${JSON.stringify((rest as Record<string, unknown>)[key])}`);
  }
  return shown.join(", ");
}
