import { describe, expect, test } from "bun:test";
import { call, gate, say } from "../../src/hosts/scripted/script.ts";
import type { Message } from "../../src/model/message.ts";
import { type LogMessage, messageSchema } from "../../src/protocol/conversations.ts";
import { ended, launch } from "../engine/engine-bed.ts";
import { type Api, failureOf, jsonOf, startApi } from "./bed/api-bed.ts";
import { strict } from "./bed/strict-schema.ts";

const schema = strict(messageSchema).array();
const tokens = { input: 1, output: 2, reasoning: 3, cacheRead: 4, cacheWrite: 5 };

function message(id: string, fields: Partial<Message> = {}): Message {
  const none = { endedAt: null, agent: null, model: null, error: null, tokens: null, cost: null };
  return { id, role: "user", at: 1000, ...none, parts: [{ type: "text", text: id, hidden: false }], ...fields };
}

/** A task whose host returns these messages, in pages as requested. */
async function showing(messages: readonly Message[]): Promise<{ api: Api; id: string; asked: number[] }> {
  const asked: number[] = [];
  const api = await startApi({
    side: {
      host: () => ({
        async messages(_session, { limit, before }) {
          asked.push(limit);
          const end = before === null ? messages.length : Number(before);
          const start = Math.max(0, end - limit);
          return { messages: messages.slice(start, end), before: start > 0 ? String(start) : null };
        },
      }),
    },
  });
  const task = await launch(api.side, api.world.parent(), api.world.script(say("x")));
  return { api, id: task.id, asked };
}

describe("the conversation", () => {
  test("of a running task is available up to now, of an ended one completely", async () => {
    const api = await startApi();
    const prompt = api.world.script(
      call("bash", { output: "sk-secret" }),
      call("read", { fails: "password=hunter2" }),
      gate("door"),
      say("done"),
    );
    const task = await launch(api.side, api.world.parent(), prompt);
    await api.side.host.gate("door").reachedBy(1);
    const live = schema.parse(await jsonOf(api.ask(`/v1/tasks/${task.id}/logs`))) as LogMessage[];
    expect(live[0]).toMatchObject({ role: "user", parts: [{ type: "text", text: prompt, hidden: false }] });
    api.side.host.gate("door").open();
    await ended(api.side, task);
    const { messages, before } = await api.client.logs(task.id);
    expect(before).toBeNull();
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "assistant", "assistant"]);
    expect(messages[1]?.parts).toMatchObject([{ type: "tool", name: "bash", state: "completed", output: "sk-secret" }]);
    expect(messages[2]?.parts).toMatchObject([
      { type: "tool", name: "read", state: "error", error: "password=hunter2" },
    ]);
    expect(messages[3]?.parts).toMatchObject([{ type: "text", text: "done" }]);
  });

  test("shows every kind of part, nothing masked and nothing cut", async () => {
    const long = "sk-secret ".repeat(100_000);
    const tool = {
      type: "tool",
      callId: "c",
      title: "t",
      input: { key: "sk-secret", nested: [{ token: "abc" }] },
    } as const;
    const { api, id } = await showing([
      message("m1", { parts: [{ type: "text", text: long, hidden: true }] }),
      message("m2", {
        role: "assistant",
        endedAt: 2000,
        agent: "general",
        model: "p/m",
        error: "sk-error",
        tokens,
        cost: 0.5,
        parts: [
          { type: "reasoning", text: "sk-thought" },
          { ...tool, name: "bash", state: "completed", output: long, error: null, startedAt: 1000, endedAt: 2000 },
          { ...tool, name: "edit", state: "error", output: null, error: "sk-fail", startedAt: null, endedAt: null },
          { type: "file", name: null, mime: "text/plain", url: "data:,sk" },
          { type: "other", raw: { anything: ["sk-raw"] } },
        ],
      }),
    ]);
    const shown = schema.parse(await jsonOf(api.ask(`/v1/tasks/${id}/logs`))) as LogMessage[];
    expect(shown[0]?.parts).toEqual([{ type: "text", text: long, hidden: true }]);
    expect(shown[1]).toMatchObject({
      at: "1970-01-01T00:00:01.000Z",
      endedAt: "1970-01-01T00:00:02.000Z",
      error: "sk-error",
      tokens,
      cost: 0.5,
    });
    expect(shown[1]?.parts).toMatchObject([
      { text: "sk-thought" },
      { ...tool, output: long, startedAt: "1970-01-01T00:00:01.000Z" },
      { ...tool, error: "sk-fail", startedAt: null },
      { name: null, url: "data:,sk" },
      { raw: { anything: ["sk-raw"] } },
    ]);
  });

  test("comes all at once by default, in order, however many pages the host has", async () => {
    const all = Array.from({ length: 1234 }, (_, index) => message(`m${index}`));
    const { api, id, asked } = await showing(all);
    const { messages, before } = await api.client.logs(id);
    expect(messages.map((each) => each.id)).toEqual(all.map((each) => each.id));
    expect([before, asked.length]).toEqual([null, 13]);
  });

  test("comes in pages on request, each with a link to the previous one", async () => {
    const all = Array.from({ length: 25 }, (_, index) => message(`m${index}`));
    const { api, id, asked } = await showing(all);
    const pages: string[][] = [];
    let before: string | undefined;
    do {
      const page = await api.client.logs(id, { limit: 10, ...(before === undefined ? {} : { before }) });
      pages.unshift(page.messages.map((each) => each.id));
      before = page.before ?? undefined;
    } while (before !== undefined);
    expect(pages.map((page) => page.length)).toEqual([5, 10, 10]);
    expect(pages.flat()).toEqual(all.map((each) => each.id));
    await api.client.logs(id, { limit: 500 });
    expect(asked).toEqual([10, 10, 10, 200]);
  });

  test("of a giant session is bounded, and the cursor continues it", async () => {
    const { api, id } = await showing(Array.from({ length: 10_050 }, (_, index) => message(`m${index}`)));
    const { messages, before } = await api.client.logs(id);
    expect([messages.length, messages.at(-1)?.id, before]).toEqual([10_000, "m10049", "50"]);
    const rest = await api.client.logs(id, { before: before ?? "" });
    expect([rest.messages.length, rest.before]).toEqual([50, null]);
  });

  test("rejects wrong parameters, unknown tasks and lost sessions", async () => {
    const api = await startApi();
    const task = await launch(api.side, api.world.parent(), api.world.script(say("x")));
    await ended(api.side, task);
    const path = `/v1/tasks/${task.id}/logs`;
    for (const query of ["limit=0", "limit=-1", "limit=x", "limit="]) {
      expect(await failureOf(api.ask(`${path}?${query}`))).toMatchObject({
        status: 400,
        details: { parameters: ["limit"] },
      });
    }
    expect(await failureOf(api.ask("/v1/tasks/none/logs"))).toMatchObject({ status: 404, code: "task_not_found" });
    await api.side.host.deleteSession(task.sessionId);
    expect(await failureOf(api.ask(path))).toMatchObject({ status: 410, code: "session_gone" });
  });
});
