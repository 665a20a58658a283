import { expect, test } from "bun:test";
import { conversationPages } from "../../src/cli/exporting/conversation-pages.ts";
import type { LogMessage } from "../../src/protocol/conversations.ts";

const message = (number: number) => ({ id: `m${number}` }) as LogMessage;

/** A server whose conversation has this many messages, and one more after each read. */
function growing(count: number, { until = count } = {}) {
  let [length, largest, reads] = [count, 0, 0];
  return {
    largest: () => largest,
    reads: () => reads,
    async logs(_id: string, { limit = 0, before }: { limit?: unknown; before?: string | undefined } = {}) {
      const end = before === undefined ? length : Number(before);
      const start = Math.max(0, end - Number(limit));
      length = Math.min(until, length + 1);
      reads++;
      const messages = Array.from({ length: end - start }, (_, index) => message(start + index));
      largest = Math.max(largest, messages.length);
      return { messages, before: start === 0 ? null : String(start) };
    },
  };
}

async function idsOf(server: Pick<ReturnType<typeof growing>, "logs">): Promise<string[]> {
  const ids: string[] = [];
  for await (const page of conversationPages(server, "t", new AbortController().signal))
    ids.push(...page.map(({ id }) => id));
  return ids;
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => `m${index}`);

test("pages come oldest first, complete and once, whatever their number", async () => {
  for (const count of [0, 1, 19, 20, 21, 40, 1_003]) expect(await idsOf(growing(count))).toEqual(upTo(count));
});

test("no page is large, and each is read twice at most", async () => {
  const server = growing(2_000);
  await idsOf(server);
  expect([server.largest(), server.reads() <= 2 * (2_000 / 20) + 1]).toEqual([20, true]);
});

test("what is written meanwhile comes at the end, without a gap", async () => {
  for (const count of [5, 45, 200]) {
    const ids = await idsOf(growing(count, { until: count + 70 }));
    expect(ids).toEqual(upTo(ids.length));
    expect(ids.length).toBeGreaterThanOrEqual(count);
  }
});
