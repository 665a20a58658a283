import { expect, test } from "bun:test";
import { join } from "node:path";
import { openDatabase } from "../../src/store/open-database.ts";

const CHANGE_SIGNAL = join(import.meta.dir, "../../src/store/change-signal.ts");

// The test runner fails a test with an unhandled rejection, so this runs in a process of its own.
test("a failing listener does not affect the others, and its error becomes an unhandled rejection", async () => {
  const script = `
    import { changeSignal } from ${JSON.stringify(CHANGE_SIGNAL)};
    process.on("unhandledRejection", ({ message }) => console.log("unhandled:", message));
    const signal = changeSignal(() => () => {});
    signal.listen(() => { throw new Error("a broken listener"); });
    signal.listen(() => console.log("heard"));
    signal.raise();`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "inherit" });
  const lines = (await new Response(child.stdout).text()).trim().split("\n");
  expect(lines).toEqual(["heard", "unhandled: a broken listener"]);
  expect(await child.exited).toBe(0);
});

test("closing waits for the queued writes, and then until the driver has closed its connections", async () => {
  const happened: string[] = [];
  const write = Promise.withResolvers<void>();
  const database = openDatabase({
    dialect: "postgres",
    now: () => 0,
    read: () => Promise.reject(new Error("This test does not read.")),
    async write(work) {
      const result = await work(undefined as never);
      happened.push("written");
      return { result, changed: false };
    },
    watch: () => () => {},
    async disconnect() {
      happened.push("disconnecting");
      await Bun.sleep(1);
      happened.push("disconnected");
    },
  });
  const writing = database.write(() => write.promise);
  const closing = database.close().then(() => happened.push("closed"));
  write.resolve();
  await Promise.all([writing, closing]);
  expect(happened).toEqual(["written", "disconnecting", "disconnected", "closed"]);
});
