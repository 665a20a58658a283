/** The gate of folders that are removed: what begins there waits, what is beginning is waited for, neither for ever. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FolderGate } from "../../../src/engine/folder-gate.ts";
import { codeOf } from "../engine-bed.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "asyncagents-gate-")));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let count = 0;
function newGate() {
  const folder = join(root, String(++count));
  const inner = join(folder, "web", "deep");
  mkdirSync(inner, { recursive: true });
  mkdirSync(`${folder}-2`);
  const timers = new Set<() => void>();
  const after = (_ms: number, work: () => void) => {
    timers.add(work);
    return () => void timers.delete(work);
  };
  const timeIsUp = () => {
    for (const timer of [...timers]) timer();
  };
  return { gate: new FolderGate({ after }), folder, inner, neighbour: `${folder}-2`, timeIsUp };
}

function work() {
  const done: string[] = [];
  const does = (what: string) => async () => void done.push(what);
  return { done, does };
}

describe("while a folder is closed", () => {
  test("what begins in it, or below it, waits; neighbours and the folder above do not", async () => {
    const { gate, folder, inner, neighbour } = newGate();
    const { done, does } = work();
    const waiting: Promise<void>[] = [];
    await gate.close(folder, async () => {
      waiting.push(gate.keep(folder, does("folder")), gate.keep(inner, does("inner")));
      await Promise.all([gate.keep(neighbour, does("neighbour")), gate.keep(root, does("above"))]);
      expect(done).toEqual(["neighbour", "above"]);
    });
    await Promise.all(waiting);
    expect(done.slice(2).toSorted()).toEqual(["folder", "inner"]);
  });

  test("what waited is told if the folder is gone then, and what comes later is, too", async () => {
    const { gate, folder, inner } = newGate();
    const { done, does } = work();
    const waiting = await gate.close(folder, async () => {
      const codes = [codeOf(gate.keep(inner, does("inner")))];
      rmSync(folder, { recursive: true });
      return codes;
    });
    expect(await Promise.all(waiting)).toEqual(["worktree_not_found"]);
    expect(await codeOf(gate.keep(folder, does("later")))).toBe("worktree_not_found");
    expect(done).toEqual([]);
  });

  test("what waited goes on after a removal that failed, and waits again if another one came", async () => {
    const { gate, folder } = newGate();
    const { done, does } = work();
    const second = Promise.withResolvers<void>();
    const opened = Promise.withResolvers<Promise<void>>();
    const first = gate.close(folder, async () => {
      opened.resolve(gate.keep(folder, does("begun")));
      throw new Error("the disk is full");
    });
    const again = gate.close(folder, () => second.promise);
    expect(await first.catch(String)).toContain("the disk is full");
    expect(done).toEqual([]);
    second.resolve();
    await again;
    await await opened.promise;
    expect(done).toEqual(["begun"]);
  });

  test("what waits too long is refused, and says what to do", async () => {
    const { gate, folder, timeIsUp } = newGate();
    const { done, does } = work();
    await gate.close(folder, async () => {
      const refused = gate.keep(folder, does("begun")).catch(String);
      timeIsUp();
      expect(await refused).toContain("Try again in a moment.");
    });
    expect(done).toEqual([]);
  });
});

describe("a folder is closed", () => {
  test("once what is beginning in it or below it has begun, or has failed to", async () => {
    const { gate, folder, inner, neighbour } = newGate();
    const { done, does } = work();
    const [begins, fails] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const beginning = gate.keep(inner, () => begins.promise.then(does("begun")));
    const failing = codeOf(gate.keep(folder, () => fails.promise));
    void gate.keep(neighbour, () => new Promise(() => {}));
    const closed = gate.close(folder, does("closed"));
    fails.reject(new Error("no session"));
    await failing;
    expect(done).toEqual([]);
    begins.resolve();
    await Promise.all([beginning, closed]);
    expect(done).toEqual(["begun", "closed"]);
  });

  test("not at all if that takes too long; then it is open again", async () => {
    const { gate, folder, inner, timeIsUp } = newGate();
    const { done, does } = work();
    const begins = Promise.withResolvers<void>();
    const beginning = gate.keep(inner, () => begins.promise);
    const refused = codeOf(gate.close(folder, does("closed")));
    timeIsUp();
    expect(await refused).toBe("worktree_busy");
    await gate.keep(folder, does("begun"));
    expect(done).toEqual(["begun"]);
    begins.resolve();
    await beginning;
  });
});
