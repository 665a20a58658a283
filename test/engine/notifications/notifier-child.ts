/**
 * A process that sends notifications to one webhook: `notifier-child.ts <folder or address of a database> <receiver>
 * <minutes ahead> [die]`. Says when it is ready. With `die` it kills itself between sending the first and recording it.
 */
import { openChannels } from "../../../src/engine/notifications/channels/open-channels.ts";
import { Notifier } from "../../../src/engine/notifications/notifier.ts";
import { systemClock } from "../../../src/process/clock.ts";
import { makeId } from "../../../src/process/make-id.ts";
import { postgresStore, sqliteStore } from "../../../src/store/open.ts";

const [place = "", url = "", ahead = "0", end] = process.argv.slice(2);
const store = place.startsWith("postgres:")
  ? await postgresStore({ connectionString: place })
  : await sqliteStore({ directory: place });
const notifier = new Notifier({
  ...systemClock,
  // Leases end a minute after they began: this process is later than that.
  now: () => Date.now() + Number(ahead) * 60_000,
  store,
  log: { info() {}, error() {} },
  newId: makeId,
  channels: openChannels({ ops: { type: "webhook", url } }, {}),
  rules: [],
  quietHours: null,
  publicUrl: null,
  reach: () => {
    if (end === "die") process.kill(process.pid, "SIGKILL");
  },
});
await notifier.start();
process.stdout.write("ready\n");
// Ends with the test's process.
for await (const _ of process.stdin);
process.exit(0);
