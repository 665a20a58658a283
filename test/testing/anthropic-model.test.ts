import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ClaudeHome, claudeEnvironment } from "../../src/testing/claude-home.ts";
import { type AnthropicModel, startAnthropicModel } from "../../src/testing/models/anthropic-model.ts";
import type { AnthropicMessage, ContentBlock } from "../../src/testing/models/messages-request.ts";
import { call, calls, cut, empty, fail, gate, huge, say, scriptMarker } from "../../src/testing/models/script.ts";
import { openQuery } from "./claude-query.ts";
import { readData } from "./stream-data.ts";

const PATIENCE = 60_000;
let model: AnthropicModel;
beforeAll(() => {
  model = startAnthropicModel({ fallback: "nothing to say" });
});
afterAll(() => model.stop());

let sessions = 0;
const newSession = () => `session-${++sessions}`;
const user = (content: AnthropicMessage["content"]): AnthropicMessage => ({ role: "user", content });
const assistant = (content: AnthropicMessage["content"]): AnthropicMessage => ({ role: "assistant", content });

interface Asking {
  agent?: string;
  stream?: boolean;
  fields?: object;
}

function post(session: string, messages: AnthropicMessage[], { agent, stream = false, fields }: Asking = {}) {
  const body = JSON.stringify({ model: "m1", max_tokens: 100, tools: [{ name: "Read" }], stream, messages, ...fields });
  const headers = { "x-claude-code-session-id": session, ...(agent && { "x-claude-code-agent-id": agent }) };
  return fetch(`${model.url}/v1/messages?beta=true`, { method: "POST", headers, body });
}

async function ask(session: string, text: string, asking: Asking = {}): Promise<string> {
  const response = await post(session, [user(text)], asking);
  if (!response.ok) return `HTTP ${response.status}`;
  const { content } = (await response.json()) as { content: ContentBlock[] };
  return content.map((block) => block.text ?? `${block.name}(${JSON.stringify(block.input)})`).join(" ");
}

/** The events of a stream and whether it ended properly. */
async function readStream(response: Response): Promise<{ events: Record<string, unknown>[]; broken: boolean }> {
  const { data, broken } = await readData(response);
  return { events: data.map((line) => JSON.parse(line)), broken };
}

describe("addressing", () => {
  test("a session and each agent in it have separate cursors", async () => {
    model.script("count", [say("one"), say("two")]);
    const [session, prompt] = [newSession(), `go ${scriptMarker("count")}`];
    expect([
      await ask(session, prompt),
      await ask(session, prompt, { agent: `${session}-a` }),
      await ask(session, prompt, { agent: `${session}-b` }),
      await ask(session, prompt, { agent: `${session}-a` }),
      await ask(session, prompt),
    ]).toEqual(["one", "one", "one", "two", "two"]);
    expect(model.requestsOf(session)).toHaveLength(2);
    expect(model.requestsOf(`${session}-a`).map(({ request }) => request.sessionId)).toEqual([session, session]);
  });

  test("the client's own requests are answered and consume nothing", async () => {
    model.script("own", [say("first")]);
    const [session, prompt] = [newSession(), scriptMarker("own")];
    const title = { fields: { tools: [], system: "Write a title for this conversation." } };
    expect(await ask(session, prompt, title)).toBe("Scripted title");
    expect(await ask(session, prompt, { fields: { max_tokens: 1 } })).toBe("ok");
    expect(await ask(session, prompt)).toBe("first");
    expect((await fetch(model.url, { method: "HEAD" })).status).toBe(200);
    const counted = await fetch(`${model.url}/v1/messages/count_tokens`, { method: "POST", body: "x".repeat(400) });
    expect(await counted.json()).toEqual({ input_tokens: 100 });
    const unknown = await fetch(`${model.url}/v1/nothing`);
    expect([unknown.status, await unknown.json()]).toEqual([
      404,
      { type: "error", error: { type: "not_found_error", message: expect.stringContaining("/v1/nothing") } },
    ]);
  });
});

describe("answers", () => {
  test("a stream has its blocks one after the other, a stop reason and usage", async () => {
    model.script("stream", [calls([{ name: "Read", input: { file: "x" } }], "I look")]);
    const { events, broken } = await readStream(
      await post(newSession(), [user("[[script:stream]]")], { stream: true }),
    );
    expect(broken).toBe(false);
    expect(events.map((event) => event.type)).toEqual([
      "message_start",
      "content_block_start",
      "content_block_delta",
      "content_block_stop",
      "content_block_start",
      "content_block_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
    expect(events.map((event) => event.index)).toEqual([undefined, 0, 0, 0, 1, 1, 1, undefined, undefined]);
    expect(events.at(-2)).toMatchObject({ delta: { stop_reason: "tool_use" }, usage: { output_tokens: 20 } });
  });

  test("a cut stream has its text and no end", async () => {
    model.script("cut", [cut("partial")]);
    const { events, broken } = await readStream(await post(newSession(), [user("[[script:cut]]")], { stream: true }));
    expect(broken).toBe(true);
    expect(events.at(-1)).toMatchObject({ type: "content_block_delta", delta: { text: "partial" } });
  });

  test("repeated failures, then an empty answer, then a large one", async () => {
    model.script("flaky", [fail(529, "overloaded", { times: 2, retryAfter: 7 }), empty(), huge(1000)]);
    const session = newSession();
    const first = await post(session, [user("[[script:flaky]]")]);
    expect([first.status, first.headers.get("retry-after")]).toEqual([529, "7"]);
    expect(await first.json()).toMatchObject({ type: "error", error: { type: "overloaded_error" } });
    const rest = [await ask(session, "[[script:flaky]]"), await ask(session, "[[script:flaky]]")];
    expect(rest).toEqual(["HTTP 529", ""]);
    expect(await ask(session, "[[script:flaky]]")).toHaveLength(1000);
  });
});

describe("refusals", () => {
  const use = (id: string): ContentBlock => ({ type: "tool_use", id, name: "Read", input: {} });
  const result = (id: string): ContentBlock => ({ type: "tool_result", tool_use_id: id, content: "done" });
  const text: ContentBlock = { type: "text", text: "and" };
  const malformed: [string, AnthropicMessage[]][] = [
    ["no messages", []],
    ["an empty message", [user("")]],
    ["a message of whitespace", [user([{ type: "text", text: " \n" }])]],
    ["an assistant message first", [assistant("x"), user("y")]],
    ["a call without its result at the end", [user("x"), assistant([use("1")])]],
    ["a call without its result", [user("x"), assistant([use("1")]), user("y")]],
    ["one of two results", [user("x"), assistant([use("1"), use("2")]), user([result("1")])]],
    ["a result without a call", [user([result("1")])]],
    [
      "a result after the next message",
      [user("x"), assistant([use("1")]), user([result("1")]), assistant("y"), user([result("1")])],
    ],
    ["a text before the result", [user("x"), assistant([use("1")]), user([text, result("1")])]],
    [
      "an id used twice",
      [user("x"), assistant([use("1")]), user([result("1")]), assistant([use("1")]), user([result("1")])],
    ],
  ];
  test.each(malformed)("%s", async (_, messages) => {
    const response = await post(newSession(), messages);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ type: "error", error: { type: "invalid_request_error" } });
    expect(model.requests.at(-1)?.answeredBy).toStartWith("refused");
  });

  test("well-formed sequences are accepted: adjacent messages of one role are joined, and system messages are separate", async () => {
    const sequences: AnthropicMessage[][] = [
      [user("x"), user("y"), { role: "system", content: "s" }],
      [user("x"), assistant([use("1"), use("2")]), user([result("1")]), user([result("2"), text])],
      [user("x"), assistant([use("1")]), { role: "system", content: "s" }, user([result("1")]), assistant("prefilled")],
    ];
    for (const messages of sequences) expect((await post(newSession(), messages)).status).toBe(200);
  });

  test("a request without max_tokens", async () => {
    expect(await ask(newSession(), "x", { fields: { max_tokens: undefined } })).toBe("HTTP 400");
  });
});

describe("the real CLI", () => {
  let home: ClaudeHome;
  beforeAll(async () => {
    home = await claudeEnvironment({ model });
  });
  afterAll(() => home.remove());

  test(
    "a turn with real tools, a second turn, and a gate",
    async () => {
      model.script("tools", [
        calls([
          { name: "Bash", input: { command: "cat notes.txt", description: "Show" } },
          { name: "Read", input: { file_path: `${home.directory}/README.md` } },
        ]),
        say(
          (request) =>
            `${request.fromToolResults(/beta/, "Bash")} of ${request.fromToolResults(/Sample project/, "Read")}`,
        ),
      ]);
      model.script("held", [gate("cli"), say("let through")]);
      const session = openQuery(home);
      session.send(`look ${scriptMarker("tools")}`);
      expect((await session.results(1))[0]).toMatchObject({ subtype: "success", result: "beta of Sample project" });
      session.send(`go on ${scriptMarker("held")}`);
      await model.gate("cli").reached;
      model.gate("cli").open();
      expect((await session.results(2))[1]).toMatchObject({ result: "let through" });
      const answered = model.requestsOf(session.sessionId()).map(({ answeredBy }) => answeredBy);
      expect(answered).toEqual(["tools#0", "tools#1", "held#1"]);
      await session.end();
    },
    PATIENCE,
  );

  test(
    "a background agent follows the script of its own prompt, and its end causes a turn",
    async () => {
      model.script("parent", [background("Look", "child"), say("launched"), say("noted")]);
      model.script("child", [call("Bash", { command: "cat notes.txt", description: "Show" }), say("found it")]);
      const session = openQuery(home);
      session.send(scriptMarker("parent"));
      const told = await session.wait(
        "a notification",
        (message) => "subtype" in message && message.subtype === "task_notification",
      );
      expect(told).toMatchObject({ status: "completed", summary: "found it" });
      expect((await session.results(2))[1]).toMatchObject({ result: "noted" });
      const { task_id: agent } = told as { task_id: string };
      expect(model.requestsOf(agent).map(({ answeredBy }) => answeredBy)).toEqual(["child#0", "child#1"]);
      expect(model.requestsOf(session.sessionId()).map(({ answeredBy }) => answeredBy)).toEqual([
        "parent#0",
        "parent#1",
        "parent#2",
      ]);
      await session.end();
    },
    PATIENCE,
  );

  test(
    "a permanent failure ends the turn, a temporary one is retried",
    async () => {
      model.script("refused", [fail(400, "no such thing")]);
      model.script("passing", [fail(529, "overloaded", { retryAfter: 0.1 }), say("recovered")]);
      const session = openQuery(home);
      session.send(scriptMarker("refused"));
      const [failed] = await session.results(1);
      expect(failed).toMatchObject({ is_error: true, result: expect.stringContaining("no such thing") });
      session.send(scriptMarker("passing"));
      expect((await session.results(2))[1]).toMatchObject({ is_error: false, result: "recovered" });
      expect(
        await session.wait("a retry", (message) => "subtype" in message && message.subtype === "api_retry"),
      ).toMatchObject({
        attempt: 1,
        error_status: 529,
      });
      await session.end();
    },
    PATIENCE,
  );
});

function background(description: string, script: string) {
  const prompt = `Do it. ${scriptMarker(script)}`;
  return call("Agent", { description, prompt, subagent_type: "general-purpose", run_in_background: true });
}
