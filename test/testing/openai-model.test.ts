import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ChatMessage } from "../../src/testing/models/chat-request.ts";
import { type OpenAiModel, startOpenAiModel } from "../../src/testing/models/openai-model.ts";
import {
  call,
  calls,
  cut,
  empty,
  fail,
  gate,
  huge,
  pause,
  say,
  scriptMarker,
} from "../../src/testing/models/script.ts";
import { readData } from "./stream-data.ts";

let model: OpenAiModel;
beforeAll(() => {
  model = startOpenAiModel({ fallback: "nothing to say" });
});
afterAll(() => model.stop());

let sessions = 0;
const newSession = () => `ses_${++sessions}`;
const user = (content: string): ChatMessage => ({ role: "user", content });
const assistant = (content: string): ChatMessage => ({ role: "assistant", content });

function post(session: string, messages: ChatMessage[], options: { stream?: boolean; signal?: AbortSignal } = {}) {
  const { stream = false, ...rest } = options;
  const body = JSON.stringify({ model: "m1", stream, messages });
  const headers = { "content-type": "application/json", "x-session-affinity": session };
  return fetch(`${model.url}/chat/completions`, { method: "POST", headers, body, ...rest });
}

interface Completion {
  choices: {
    message: { content: string | null; tool_calls?: { id: string; function: { name: string; arguments: string } }[] };
  }[];
}

async function ask(session: string, ...messages: ChatMessage[]) {
  const response = await post(session, messages);
  if (!response.ok) return `HTTP ${response.status}`;
  const { choices } = (await response.json()) as Completion;
  return choices[0]?.message.content ?? "";
}

async function askForCall(session: string, ...messages: ChatMessage[]) {
  const { choices } = (await (await post(session, messages)).json()) as Completion;
  return choices[0]?.message.tool_calls ?? [];
}

describe("addressing", () => {
  test("every session has its own cursor in the same script", async () => {
    model.script("count", [say("one"), say("two")]);
    const prompt = user(`go ${scriptMarker("count")}`);
    const [first, second] = [newSession(), newSession()];
    expect([await ask(first, prompt), await ask(second, prompt), await ask(first, prompt)]).toEqual([
      "one",
      "one",
      "two",
    ]);
  });

  test("past the end, or without a script, the fallback answers", async () => {
    model.script("short", [say("only")]);
    const session = newSession();
    expect(await ask(session, user("[[script:short]]"))).toBe("only");
    expect(await ask(session, user("[[script:short]]"))).toBe("nothing to say");
    expect(await ask(newSession(), user("hello"))).toBe("nothing to say");
  });

  test("a new marker switches the script, the same marker in a new message restarts it", async () => {
    model.script("left", [say("left 1"), say("left 2")]);
    model.script("right", [say("right 1"), say("right 2")]);
    const session = newSession();
    const history = [user("[[script:left]]"), assistant("left 1"), user("[[script:right]]")];
    expect(await ask(session, user("[[script:left]]"))).toBe("left 1");
    expect(await ask(session, ...history)).toBe("right 1");
    expect(await ask(session, ...history, assistant("right 1"), user("go on"))).toBe("right 2");
    expect(await ask(session, ...history, assistant("right 1"), user("again [[script:right]]"))).toBe("right 1");
  });

  test("compaction drops the marked message but keeps the position", async () => {
    model.script("long", [say("long 1"), say("long 2"), say("long 3")]);
    const session = newSession();
    await ask(session, user("[[script:long]]"));
    expect(await ask(session, assistant("a summary"), user("go on"))).toBe("long 2");
    expect(await ask(session, assistant("a summary"), user("go on"), user("[[script:long]]"))).toBe("long 1");
  });

  test("a fork follows its newest marker", async () => {
    const fork = newSession();
    expect(await ask(fork, user("[[script:left]]"), assistant("left 1"), user("[[script:right]]"))).toBe("right 1");
  });

  test("an unknown script is rejected with its name", async () => {
    const response = await post(newSession(), [user("[[script:nowhere]]")]);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("nowhere");
  });

  test("a title request gets a title and consumes nothing", async () => {
    model.script("titled", [say("first")]);
    const session = newSession();
    const system: ChatMessage = {
      role: "system",
      content: "You are a title generator. You output ONLY a thread title.",
    };
    expect(await ask(session, system, user("[[script:titled]]"))).toBe("Scripted title");
    expect(await ask(session, user("[[script:titled]]"))).toBe("first");
    expect(model.requestsOf(session)).toHaveLength(1);
  });
});

describe("answers", () => {
  test("a stream has its text in chunks, a finish reason, usage and an end", async () => {
    model.script("stream", [say("abcdef", { chunks: 3 })]);
    const { data, broken } = await readData(await post(newSession(), [user("[[script:stream]]")], { stream: true }));
    expect(broken).toBe(false);
    expect(data.join("")).toContain('"content":"cd"');
    expect(data.at(-3)).toContain('"finish_reason":"stop"');
    expect(data.at(-2)).toContain('"prompt_tokens":100');
    expect(data.at(-1)).toBe("[DONE]");
  });

  test("tool calls can use an earlier result as input", async () => {
    model.script("tools", [
      calls([{ name: "launch", input: { prompt: "x" } }], "starting"),
      call("output", (request) => ({ task_id: request.fromToolResults(/task_\w+/, "launch") })),
      say((request) => `${request.toolResults().length} results`),
    ]);
    const session = newSession();
    const history: ChatMessage[] = [user("[[script:tools]]")];
    for (const [name, result] of [
      ["launch", "started task_7"],
      ["output", "42"],
    ]) {
      const [requested] = await askForCall(session, ...history);
      expect(requested?.function.name).toBe(name);
      if (name === "output") expect(JSON.parse(requested?.function.arguments ?? "")).toEqual({ task_id: "task_7" });
      const id = requested?.id ?? "";
      const asked = { id, type: "function" as const, function: { name: name ?? "", arguments: "{}" } };
      history.push({ role: "assistant", content: null, tool_calls: [asked] });
      history.push({ role: "tool", tool_call_id: id, content: result ?? "" });
    }
    expect(await ask(session, ...history)).toBe("2 results");
  });

  test("fails the given number of times, then the script continues", async () => {
    model.script("flaky", [fail(503, "overloaded", { times: 2, retryAfter: 7 }), empty(), huge(1000)]);
    const session = newSession();
    const first = await post(session, [user("[[script:flaky]]")]);
    expect([first.status, first.headers.get("retry-after")]).toEqual([503, "7"]);
    const rest = [await ask(session, user("[[script:flaky]]")), await ask(session, user("[[script:flaky]]"))];
    expect(rest).toEqual(["HTTP 503", ""]);
    expect((await ask(session, user("[[script:flaky]]"))).length).toBe(1000);
  });

  test("a cut stream has its text and no end", async () => {
    model.script("cut", [cut("partial")]);
    const { data, broken } = await readData(await post(newSession(), [user("[[script:cut]]")], { stream: true }));
    expect(broken).toBe(true);
    expect(data.join("")).toContain("partial");
    expect(data).not.toContain("[DONE]");
  });

  test("a pause delays the answer", async () => {
    model.script("slow", [pause(60), say("late")]);
    const begun = performance.now();
    expect(await ask(newSession(), user("[[script:slow]]"))).toBe("late");
    expect(performance.now() - begun).toBeGreaterThanOrEqual(55);
  });
});

describe("gates", () => {
  test("hold all arrivals until they are opened", async () => {
    model.script("gated", [gate("door"), say("through")]);
    const answers = [1, 2, 3].map(() => ask(newSession(), user("[[script:gated]]")));
    await model.gate("door").reachedBy(3);
    expect(model.gate("door").waiting).toBe(3);
    model.gate("door").open();
    expect(await Promise.all(answers)).toEqual(["through", "through", "through"]);
  });

  test("a client that disconnects no longer waits", async () => {
    model.script("left alone", [gate("never"), say("unheard")]);
    const session = newSession();
    const controller = new AbortController();
    const answer = post(session, [user("[[script:left alone]]")], { signal: controller.signal }).catch(() => "gone");
    await model.gate("never").reached;
    controller.abort();
    expect(await answer).toBe("gone");
    await model.gate("never").left;
    expect(model.gate("never").waiting).toBe(0);
  });

  test("a wait that times out says what it waited for", async () => {
    const wait = model.gate("lonely").reachedBy(1, 20);
    await expect(wait).rejects.toThrow('1 request(s) at gate "lonely"; 0 arrived');
  });
});

describe("refusals", () => {
  const toolCall = { id: "call_1", type: "function" as const, function: { name: "read", arguments: "{}" } };
  const asked: ChatMessage = { role: "assistant", content: null, tool_calls: [toolCall] };
  const result: ChatMessage = { role: "tool", tool_call_id: "call_1", content: "done" };
  const malformed: [string, ChatMessage[]][] = [
    ["no messages", []],
    ["an empty user message", [user("")]],
    ["a call without its result at the end", [user("x"), asked]],
    ["a call without its result before the next message", [user("x"), asked, user("y")]],
    ["a result without a call", [user("x"), result]],
    ["a result given twice", [user("x"), asked, result, result]],
  ];
  test.each(malformed)("%s", async (_, messages) => {
    const response = await post(newSession(), messages);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { type: "invalid_request_error" } });
    expect(model.requests.at(-1)?.answeredBy).toStartWith("refused");
  });

  test("well-formed sequences are accepted", async () => {
    expect(await ask(newSession(), user("x"), asked, result, user("y"), user("z"))).toBe("nothing to say");
    expect(await ask(newSession(), { role: "system", content: "s" }, user("x"), asked, result)).toBe("nothing to say");
  });
});

describe("the record", () => {
  test("has the session, the size and the step of a request", async () => {
    model.script("recorded", [say("yes")]);
    const session = newSession();
    const waiting = model.waitForRequest((request) => request.sessionId === session);
    await ask(session, user("[[script:recorded]]"));
    expect(await waiting).toMatchObject({ sessionId: session, kind: "turn", answeredBy: "recorded#0", status: 200 });
    expect((await waiting).bytes).toBeGreaterThan(50);
  });

  test("a wait that times out shows what was seen instead", async () => {
    await ask("ses_seen", user("hello there"));
    const wait = model.waitForRequest((request) => request.sessionId === "ses_unseen", 20);
    await expect(wait).rejects.toThrow(/a model request: 0 of 1 came[\s\S]*ses_seen fallback 200 "hello there"/);
  });
});
