/** Events that are told, and waiting for what the store shows about notifications. */
import type { TaskEvent } from "../../../src/model/events.ts";
import type { StoredNotification } from "../../../src/store/notifications/records.ts";
import type { Store } from "../../../src/store/store.ts";
import { eventually } from "../../../src/testing/eventually.ts";

export const failure = (at: number, error = "the provider answered 401"): TaskEvent => {
  return { type: "run.failed", at, run: 0, error, progress: null };
};
export const asking = (at: number, requestId: string, text = "May I run rm?"): TaskEvent => {
  const detail = { kind: "waiting", requestId, asks: "permission", text, at } as const;
  return { type: "run.phased", at, run: 0, phase: "waiting", detail };
};

/** Resolves with the notifications once they satisfy the condition. */
export function whenStored(store: Store, holds: (all: StoredNotification[]) => boolean): Promise<StoredNotification[]> {
  return eventually(store, async () => {
    const all = await store.notifications.list({ limit: 200 });
    return holds(all) ? all.toReversed() : null;
  });
}
export const allIn = (state: StoredNotification["state"], count: number) => (all: StoredNotification[]) =>
  all.filter((each) => each.state === state).length === count;
