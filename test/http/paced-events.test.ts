/** A reader that asks for a pace gets what happened since its last piece together, in order, and nothing twice. */
import { expect, test } from "bun:test";
import { type Chunk, PacedChanges } from "../../src/http/events/paced-changes.ts";
import { noProgress } from "../../src/model/progress.ts";
import { completed, create } from "../../src/testing/sample-task.ts";
import { startApi } from "./bed/api-bed.ts";

const chunk = (seq: number, taskId: string, isUpdate = true, bytes = 10): Chunk => {
  return { seq, taskId, isUpdate, bytes: new Uint8Array(bytes) };
};

/** What comes out, piece by piece; `next` waits for one more. */
function paced(everyMs: number) {
  const pieces: number[][] = [];
  let wake = () => {};
  const changes = new PacedChanges(everyMs, (chunks) => {
    pieces.push(chunks.map(({ seq }) => seq));
    wake();
  });
  const next = () => new Promise<void>((resolve) => (wake = resolve));
  return { changes, pieces, next };
}

test("the first change comes at once, later ones together; an update gives way to what is newer", async () => {
  const { changes, pieces, next } = paced(40);
  const begun = performance.now();
  changes.add(chunk(1, "one"));
  await next();
  for (const each of [chunk(2, "one"), chunk(3, "two"), chunk(4, "one"), chunk(5, "one", false)]) changes.add(each);
  changes.add(chunk(6, "one"));
  changes.add(chunk(7, "one"));
  await next();
  expect(performance.now() - begun).toBeGreaterThanOrEqual(39);
  // 2 and 4 gave way to the end of the run (5), which stays although 7 follows.
  expect(pieces).toEqual([[1], [3, 5, 7]]);
});

test("what is held is bounded, and nothing comes after the end", async () => {
  const { changes, pieces, next } = paced(1);
  changes.add(chunk(1, "one", false, 200_000));
  expect(pieces).toEqual([[1]]);
  changes.add(chunk(2, "one"));
  changes.stop();
  changes.add(chunk(3, "two"));
  await next();
  expect(pieces).toEqual([[1], [3]]);
});

test("over HTTP: a burst of updates of a task arrives as few events, its end among them", async () => {
  const api = await startApi();
  await create(api.store, "one");
  const leaving = new AbortController();
  const seen: string[] = [];
  for await (const event of api.client.events({ signal: leaving.signal, everyMs: 300 })) {
    if (event.type === "snapshot") {
      for (let calls = 1; calls <= 30; calls++) {
        const progress = { ...noProgress(2000), toolCalls: calls };
        await api.store.apply("one", { type: "run.progressed", at: 2000 + calls, run: 0, progress });
      }
      await api.store.apply("one", completed(9000));
    }
    if ("task" in event) seen.push(event.type);
    if (event.type === "task.completed") leaving.abort();
  }
  expect(seen.at(-1)).toBe("task.completed");
  expect(seen.length).toBeLessThan(5);
});

test("a pace that is no number is refused by name", async () => {
  const api = await startApi();
  const response = await fetch(`${api.url}/v1/events?every=often`);
  expect(response.status).toBe(400);
  expect(await response.text()).toContain("every");
});
