import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { create } from "../../src/testing/sample-task.ts";
import { type Api, CORS, corsOf, failureOf, startApi } from "./bed/api-bed.ts";
import { rawRequest } from "./bed/raw-request.ts";

const ODD_IDS = [
  "..%2f..%2fetc%2fpasswd",
  "%2e%2e%2f",
  "%00",
  "a%00b",
  "x".repeat(10_240),
  encodeURIComponent("Ünïcödé 🚀 \u202e"),
  "__proto__",
  "constructor",
  "%27%22%60",
  encodeURIComponent("'; drop table tasks; --"),
  encodeURIComponent('" or ""="'),
  "%ff%fe",
  "%zz",
  "%",
  "%25",
  "%2525",
  ":id",
  "*",
  "undefined",
  encodeURIComponent("a\r\nX-Evil: 1"),
];

const PLACES = [
  (id: string) => `/v1/tasks/${id}`,
  (id: string) => `/v1/tasks/${id}/runs`,
  (id: string) => `/v1/tasks/${id}/logs`,
  (id: string) => `/v1/task-groups/${id}`,
];

describe("an id", () => {
  test("of any shape is only looked up", async () => {
    const api = await startApi();
    await create(api.store, "real");
    for (const id of ODD_IDS) {
      for (const place of PLACES) {
        const failure = await failureOf(api.ask(place(id)));
        expect([place(id), failure.status]).toEqual([place(id), 404]);
        expect(failure.message.length).toBeLessThan(400);
      }
      expect((await failureOf(api.post(`/v1/tasks/${id}/cancel`, {}))).status).toBe(404);
    }
    expect((await api.client.tasks()).total).toBe(1);
    expect(api.logged).toEqual([]);
  });

  test("of any shape identifies its task, if there is one", async () => {
    const api = await startApi();
    const ids = ["a/b", "../up", "Ünïcödé 🚀", "__proto__", "'; drop table tasks; --", "100%", "?x=1#y", " "];
    for (const id of ids) await create(api.store, id, { batchId: `batch ${id}` });
    for (const id of ids) {
      expect((await api.client.task(id)).id).toBe(id);
      expect((await api.client.runs(id)).map(({ taskId }) => taskId)).toEqual([id]);
      expect((await api.client.group(`batch ${id}`)).tasks.map((task) => task.id)).toEqual([id]);
    }
  });

  test("that climbs out of the path by raw bytes finds no file", async () => {
    const api = await startApi();
    for (const path of ["/../../etc/passwd", "/assets/../../package.json", "/..%2f..%2fpackage.json", "//etc/passwd"]) {
      const answer = await rawRequest(api.server.port, [`GET ${path} HTTP/1.1`, "Host: localhost"]);
      expect([path, answer.status]).toEqual([path, 404]);
      expect(JSON.parse(answer.body).error.code).toBe("no_such_path");
    }
  });
});

describe("any request", () => {
  /** What must hold for every request. */
  async function holds(api: Api, path: string, init?: RequestInit): Promise<void> {
    const answer = await api.ask(path, { headers: { authorization: `Bearer ${api.token}` }, ...init });
    const text = await answer.text();
    expect(answer.status).toBeLessThan(500);
    expect(corsOf(answer)).toEqual(CORS);
    expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(() => JSON.parse(text)).not.toThrow();
    expect(text).not.toMatch(/\bat .*\.ts:\d+|node_modules|SQLITE|syntax error/);
  }

  const word = fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc.string({ unit: "binary-ascii" }),
    fc.constantFrom("'", "%00", "__proto__"),
  );
  const coded = word.map((text) => encodeURIComponent(text.toWellFormed()));
  const name = fc.oneof(
    fc.constantFrom(
      "status",
      "agent",
      "search",
      "parent",
      "group",
      "limit",
      "offset",
      "from",
      "to",
      "buckets",
      "before",
    ),
    coded,
  );
  const query = fc.array(fc.tuple(name, fc.oneof(coded, fc.constantFrom("running", "1", "2026-01-01T00:00:00Z"))), {
    maxLength: 5,
  });
  const queried = query.map((pairs) => pairs.map(([key, value]) => `${key}=${value}`).join("&"));

  test("is answered in JSON with the promised headers and never with an internal error", async () => {
    const api = await startApi();
    await create(api.store, "real", { description: "' % _ a" });
    const paths = fc.oneof(
      fc.constantFrom("/v1/tasks", "/v1/stats/history", "/v1/tasks/real/logs", "/v1/tasks/real", "/v1/stats"),
      fc.tuple(fc.constantFrom(...PLACES), coded).map(([place, id]) => place(id)),
    );
    await fc.assert(
      fc.asyncProperty(paths, queried, async (path, search) => {
        if (path === "/v1/tasks/real/logs") return holdsLogs(api, `${path}?${search}`);
        await holds(api, `${path}?${search}`);
      }),
      { numRuns: 300 },
    );
    expect(api.logged).toEqual([]);
  });

  async function holdsLogs(api: Api, path: string): Promise<void> {
    const { status, code } = await failureOf(api.ask(path));
    expect([
      [400, "invalid_input"],
      [410, "session_gone"],
    ]).toContainEqual([status, code]);
  }

  test("with any body is answered the same way, and changes nothing", async () => {
    const api = await startApi();
    const headers = { authorization: `Bearer ${api.token}` };
    const body = fc.oneof(
      fc.json(),
      fc.string(),
      fc.object({ key: fc.constantFrom("prompt", "agent", "batch") }).map((value) => JSON.stringify(value)),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom("/v1/tasks", "/v1/tasks/x/cancel", "/v1/tasks/x/resume"), body, (path, text) =>
        holds(api, path, { method: "POST", headers, body: text }),
      ),
      { numRuns: 150 },
    );
    expect((await api.client.tasks()).total).toBe(0);
    expect(api.logged).toEqual([]);
  });
});
