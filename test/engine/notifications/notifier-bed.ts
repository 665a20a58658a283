/** Notifiers on a store in a folder of their own, under a clock that a test can move forward. */
import { onTestFinished } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openChannels } from "../../../src/engine/notifications/channels/open-channels.ts";
import type { ChannelSettings } from "../../../src/engine/notifications/notification-settings.ts";
import { Notifier } from "../../../src/engine/notifications/notifier.ts";
import type { NotifierContext } from "../../../src/engine/notifications/notifier-context.ts";
import type { Clock } from "../../../src/process/clock.ts";
import { makeId } from "../../../src/process/make-id.ts";
import { sqliteStore } from "../../../src/store/open.ts";
import type { Store } from "../../../src/store/store.ts";

/** Runs as the real one does, and can be moved forward. */
export function movableClock(start: number): Clock & { move(ms: number): void } {
  const timers = new Set<{ at: number; work: () => void }>();
  const begun = performance.now();
  let moved = 0;
  const time = () => performance.now() - begun + moved;
  const tick = setInterval(() => {
    for (const timer of [...timers]) {
      if (timer.at > time() || !timers.delete(timer)) continue;
      timer.work();
    }
  }, 2);
  onTestFinished(() => clearInterval(tick));
  return {
    now: () => Math.floor(start + time()),
    monotonic: time,
    after(ms, work) {
      const timer = { at: time() + ms, work };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    move(ms) {
      moved += ms;
    },
  };
}

export type NotifierChoices = Partial<Pick<NotifierContext, "rules" | "quietHours" | "publicUrl" | "reach">> & {
  channels: Record<string, ChannelSettings>;
  environment?: Record<string, string>;
};

export interface NotifierBed {
  store: Store;
  clock: ReturnType<typeof movableClock>;
  folder: string;
  /** Everything that was logged, as text. */
  logged(): string;
  /** A started notifier; several may run at once. */
  notifier(choices: NotifierChoices, on?: Store): Promise<Notifier>;
}

export async function notifierBed(start = Date.now()): Promise<NotifierBed> {
  const folder = mkdtempSync(join(tmpdir(), "asyncagents-notify-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const store = await sqliteStore({ directory: folder });
  onTestFinished(() => store.close());
  const clock = movableClock(start);
  const lines: string[] = [];
  const line = (text: string, details?: object) => lines.push(`${text} ${JSON.stringify(details ?? {})}`);
  const { move: _, ...time } = clock;
  return {
    store,
    clock,
    folder,
    logged: () => lines.join("\n"),
    async notifier({ channels, environment = {}, ...choices }, on = store) {
      const notifier = new Notifier({
        ...time,
        store: on,
        log: { info: line, error: line },
        newId: makeId,
        channels: openChannels(channels, environment, on.notifications.push),
        rules: [],
        quietHours: null,
        publicUrl: null,
        ...choices,
      });
      onTestFinished(() => notifier.stop());
      await notifier.start();
      return notifier;
    },
  };
}
