import { describe, expect, test } from "bun:test";
import { createClient } from "../../src/client/client.ts";
import type { StreamEvent } from "../../src/client/event-stream.ts";
import { AsyncAgentsError } from "../../src/model/errors.ts";
import { create } from "../../src/testing/sample-task.ts";
import { codeOf } from "../engine/engine-bed.ts";
import { startApi } from "../http/bed/api-bed.ts";

describe("a failure", () => {
  test("is an AsyncAgentsError with the server's code, message and details", async () => {
    const { client, url } = await startApi();
    const failure = await client.tasks({ limit: -1 }).catch((thrown) => thrown);
    expect(AsyncAgentsError.isInstance(failure)).toBe(true);
    expect(failure).toMatchObject({ code: "invalid_input", details: { parameters: ["limit"] } });
    expect(failure.message).toContain("limit");
    expect(await codeOf(client.task("none"))).toBe("task_not_found");
    expect(await codeOf(client.group("none"))).toBe("group_not_found");
    expect(await codeOf(createClient({ url }).cancel("none"))).toBe("not_authorized");
    expect(await codeOf(createClient({ url, token: "wrong" }).resume("none", "x"))).toBe("not_authorized");
    expect(await codeOf(client.pageToken())).toBe("not_allowed");
  });

  test("of a server that is down says so", async () => {
    const api = await startApi();
    await api.server.stop();
    const failure = await api.client.stats().catch((thrown) => thrown);
    expect(failure).toMatchObject({ code: "host_unavailable" });
    expect(failure.message).toContain(api.url);
  });

  test("of an unrelated server is reported with its status", async () => {
    for (const [answer, code] of [
      [new Response("<html>", { status: 502 }), "internal"],
      [Response.json({ error: { code: "made_up", message: "m" } }, { status: 400 }), "internal"],
      [Response.json({ error: "text" }, { status: 400 }), "internal"],
      [Response.json(null, { status: 500 }), "internal"],
      [Response.json({ error: { code: "toString", message: "m" } }, { status: 400 }), "internal"],
    ] as const) {
      const client = createClient({ url: "http://127.0.0.1:1/", fetch: async () => answer });
      expect(await codeOf(client.stats())).toBe(code);
    }
  });

  test("is the caller's own if the caller aborted", async () => {
    const { client } = await startApi();
    const failure = await client.tasks({}, AbortSignal.abort()).catch((thrown) => thrown);
    expect([failure.name, AsyncAgentsError.isInstance(failure)]).toEqual(["AbortError", false]);
  });
});

describe("a call", () => {
  test("sends the token with every request", async () => {
    const sent: [string, RequestInit][] = [];
    const fetcher = async (input: string, init: RequestInit = {}) => {
      sent.push([input, init]);
      return Response.json({});
    };
    const client = createClient({ url: "http://host:1//", token: "secret", fetch: fetcher });
    await client.tasks({ status: ["running", "error"], search: "a&b=c #%" });
    await client.task("a/b?c");
    await client.tasks({ status: [] });
    await client.cancel("ä");
    expect(sent.map(([url]) => url)).toEqual([
      "http://host:1/v1/tasks?search=a%26b%3Dc+%23%25&status=running%2Cerror",
      "http://host:1/v1/tasks/a%2Fb%3Fc",
      "http://host:1/v1/tasks",
      "http://host:1/v1/tasks/%C3%A4/cancel",
    ]);
    const tokens = sent.map(([, init]) => new Headers(init.headers).get("authorization"));
    expect(tokens).toEqual(Array(4).fill("Bearer secret"));
  });
});

describe("events", () => {
  test("resume with a fresh snapshot when the server comes back on the same port", async () => {
    const api = await startApi();
    await create(api.store, "before");
    const seen: StreamEvent[] = [];
    for await (const event of api.client.events({ maxWaitMs: 5 })) {
      seen.push(event);
      if (seen.length === 1) await api.server.stop();
      if (event.type === "reconnecting" && event.attempt === 3) {
        await create(api.store, "meanwhile");
        await startApi({ world: api.world, port: api.server.port });
      }
      if (event.type === "snapshot" && seen.length > 1) break;
    }
    const attempts = seen.flatMap((event) => (event.type === "reconnecting" ? [event.attempt] : []));
    expect(attempts.slice(0, 3)).toEqual([1, 2, 3]);
    const [first, last] = [seen[0], seen.at(-1)];
    expect(first?.type === "snapshot" && first.snapshot.total).toBe(1);
    expect(last?.type === "snapshot" && last.snapshot.total).toBe(2);
  });

  test("back off after each failed attempt, up to a limit", async () => {
    const waits: number[] = [];
    const refused = async () => {
      throw new TypeError("refused");
    };
    const client = createClient({ url: "http://127.0.0.1:1", fetch: refused });
    const stop = new AbortController();
    for await (const event of client.events({ maxWaitMs: 2, signal: stop.signal })) {
      if (event.type === "reconnecting") waits.push(event.waitMs);
      if (waits.length === 4) stop.abort();
    }
    expect(waits).toEqual([2, 2, 2, 2]);
    for await (const event of client.events()) {
      expect(event).toEqual({ type: "reconnecting", attempt: 1, waitMs: 250, reason: "refused", code: null });
      break;
    }
  });

  test("that stay away for too long count as a lost connection", async () => {
    let opened = 0;
    const silent = async (_input: string, init?: RequestInit) => {
      opened++;
      const body = new ReadableStream({
        start: (controller) => init?.signal?.addEventListener("abort", () => controller.error(new Error("aborted"))),
      });
      return new Response(body);
    };
    const client = createClient({ url: "http://127.0.0.1:1", fetch: silent });
    for await (const event of client.events({ silenceMs: 5, maxWaitMs: 1 })) {
      expect(event.type).toBe("reconnecting");
      if (opened === 3) break;
    }
    expect(opened).toBe(3);
  });

  test("end with the signal, immediately and without an error", async () => {
    const { client } = await startApi();
    const stop = new AbortController();
    const seen: string[] = [];
    for await (const event of client.events({ signal: stop.signal })) {
      seen.push(event.type);
      stop.abort();
    }
    expect(seen).toEqual(["snapshot"]);
    for await (const event of client.events({ signal: AbortSignal.abort() })) throw new Error(event.type);
  });

  test("garbage in the stream makes it restart", async () => {
    let tries = 0;
    const fetcher = async () => {
      tries++;
      return new Response(tries === 1 ? "event: snapshot\ndata: {half\n\n" : 'event: heartbeat\ndata: {"ts":"t"}\n\n');
    };
    const seen: string[] = [];
    for await (const event of createClient({ url: "http://127.0.0.1:1", fetch: fetcher }).events({ maxWaitMs: 1 })) {
      seen.push(event.type);
      if (event.type === "heartbeat") break;
    }
    expect(seen).toEqual(["reconnecting", "heartbeat"]);
  });
});
