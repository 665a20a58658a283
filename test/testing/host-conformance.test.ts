/** The host suite must not pass where nothing was tested: without the call, the fork or the history it is about. */
import { expect, test } from "bun:test";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");

/** The titles of the cases that fail, as `host <name> > <part> > <title>`. */
async function failures(): Promise<string[]> {
  const child = Bun.spawn([process.execPath, "test", "./test/testing/broken-hosts.ts"], {
    cwd: ROOT,
    stdout: "ignore",
    stderr: "pipe",
    env: { ...process.env, NO_COLOR: "1" },
  });
  const report = await new Response(child.stderr).text();
  expect(await child.exited).not.toBe(0);
  return [...report.matchAll(/^\(fail\) (.*?)(?: \[[\d.]+ms\])?$/gm)].map(([, title = ""]) => title);
}

test("the host suite fails for a host without calls, without forks, and with empty forks", async () => {
  const failed = await failures();
  expect(failed).toContain(
    "host without calls > evidence > a run does not stop at a failed call if it continued after it",
  );
  expect(failed).toContain("host without forks > launches of forks > a fork is found by the id of its launch");
  expect(failed).toContain(
    "host with empty forks > forks > a fork has the history before the calling message, and leaves the parent unchanged",
  );
  expect(failed.filter((title) => title.startsWith("host with empty forks > condensed"))).toEqual([]);
}, 60_000);
