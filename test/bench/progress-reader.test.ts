import { expect, test } from "bun:test";
import { ProgressReader } from "../../bench/postgres/progress-reader.ts";

async function until(isSo: () => boolean): Promise<void> {
  for (let tries = 0; !isSo() && tries < 200; tries++) await Bun.sleep(10);
}

test("counts the progress of tasks while it is asked to, across chunks, and how late it is", async () => {
  const opened = Promise.withResolvers<ReadableStreamDefaultController<Uint8Array>>();
  const body = () => new ReadableStream<Uint8Array>({ start: (controller) => opened.resolve(controller) });
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, idleTimeout: 0, fetch: () => new Response(body()) });
  const reader = new ProgressReader();
  const opening = reader.open(`http://127.0.0.1:${server.port}`);
  const stream = await opened.promise;
  const send = (text: string) => stream.enqueue(new TextEncoder().encode(text));
  const event = (name: string, at: number) =>
    `id: 1\nevent: ${name}\ndata: {"progress":{"lastUpdate":"${new Date(at).toISOString()}"}}\n\n`;
  const update = event("task.updated", Date.now() - 5_000);
  send(update);
  await opening;
  reader.begin();
  send(event("snapshot", 0) + update.slice(0, 30));
  await Bun.sleep(50);
  send(`${update.slice(30)}${update}${event("task.completed", 0)}`);
  // Read in order: what comes last has everything before it.
  await until(() => reader.arrived === 2);
  const result = reader.end();
  expect(result.arrived).toBe(2);
  for (const lag of result.lags) expect(lag).toBeWithin(5_000, 15_000);
  reader.close();
  await server.stop(true);
});
