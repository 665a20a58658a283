import { expect, test } from "bun:test";
import fc from "fast-check";
import { EventParser, type StreamEvent } from "../../src/client/event-stream.ts";

/** An event as the server writes it. */
function written(event: StreamEvent): string {
  if ("ts" in event) return `event: ${event.type}\ndata: ${JSON.stringify({ ts: event.ts })}\n\n`;
  if (event.type === "reconnecting") return ": a comment\n\n";
  const data = JSON.stringify(event.type === "snapshot" ? event.snapshot : event.task);
  return `id: ${event.id}\nevent: ${event.type}\ndata: ${data}\n\n`;
}

const text = fc.string({ unit: "binary", maxLength: 30 });
const id = fc.nat().map(String);
const event: fc.Arbitrary<StreamEvent> = fc.oneof(
  fc.record({ type: fc.constant("snapshot" as const), id, snapshot: fc.record({ text }) as fc.Arbitrary<never> }),
  fc.record({
    type: fc.constantFrom("task.created" as const, "task.error" as const),
    id,
    task: fc.record({ text }) as fc.Arbitrary<never>,
  }),
  fc.record({ type: fc.constantFrom("heartbeat" as const, "board.changed" as const), ts: text }),
  fc.constant({ type: "reconnecting" as const, attempt: 1, waitMs: 1, reason: "x", code: null }),
);

test("the same events come out however the bytes are split, even within a character", () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 6 }), fc.array(fc.nat(400), { maxLength: 30 }), (events, cuts) => {
      const bytes = new TextEncoder().encode(events.map(written).join(""));
      const places = [...new Set([0, ...cuts.filter((cut) => cut < bytes.length), bytes.length])].sort((a, b) => a - b);
      const parser = new EventParser();
      const out = places.slice(1).flatMap((end, index) => [...parser.parse(bytes.subarray(places[index], end))]);
      const told = events.filter(({ type }) => type !== "reconnecting");
      expect(out).toEqual(JSON.parse(JSON.stringify(told)));
    }),
    { numRuns: 300 },
  );
});

test("byte by byte, with characters of every length", () => {
  const task = { text: "aä€🚀\u0000\n\r\n" } as never;
  const parser = new EventParser();
  const bytes = new TextEncoder().encode(written({ type: "task.updated", id: "7", task }));
  const out = [...bytes].flatMap((byte) => [...parser.parse(new Uint8Array([byte]))]);
  expect(out).toEqual([{ type: "task.updated", id: "7", task }]);
});

test("unknown events are skipped, and an event without an end is an error", () => {
  const parser = new EventParser();
  const parse = (words: string) => [...parser.parse(new TextEncoder().encode(words))];
  expect(parse("event: task.exploded\ndata: {}\n\n:ping\n\nevent: snapshot\n\ndata: {}\n\n\n\n")).toEqual([]);
  expect(parse('event:heartbeat\ndata:{"ts":"x"}\n\n')).toEqual([{ type: "heartbeat", ts: "x" }]);
  expect(() => {
    for (let megabyte = 0; megabyte < 20; megabyte++) parse("x".repeat(1024 * 1024));
  }).toThrow("no end");
});
