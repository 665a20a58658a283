import { expect, test } from "bun:test";
import { join } from "node:path";

const SOURCE = join(import.meta.dir, "../../src/store/change-signal.ts");

// The test runner fails a test with an unhandled rejection, so this runs in a process of its own.
test("a failing listener does not affect the others, and its error becomes an unhandled rejection", async () => {
  const script = `
    import { changeSignal } from ${JSON.stringify(SOURCE)};
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
