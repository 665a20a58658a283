import { describe, expect, test } from "bun:test";
import { chmodSync, chownSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { folderToken } from "../../src/http/access/token-file.ts";
import { create } from "../../src/testing/sample-task.ts";
import { newWorld } from "../engine/engine-bed.ts";
import { root } from "../ground/repository.ts";
import { type Api, failureOf, startApi } from "./bed/api-bed.ts";
import { rawRequest } from "./bed/raw-request.ts";

/** The status of an answer to a request with these headers. */
async function statusOf(api: Api, path: string, headers: Record<string, string>, method = "GET"): Promise<number> {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return (await rawRequest(api.server.port, [`${method} ${path} HTTP/1.1`, ...lines])).status;
}

const READS = ["/v1/tasks", "/v1/tasks/one", "/v1/stats", "/v1/openapi.json", "/v1/instances", "/", "/v1/nothing"];

describe("who may read", () => {
  test("requests for another host are rejected, whatever its name", async () => {
    const api = await startApi();
    await create(api.store, "one");
    for (const host of ["evil.com", "evil.com:5165", "127.0.0.1.evil.com", "localhost.evil.com", "10.0.0.1", ""]) {
      for (const path of [...READS, "/v1/events"]) {
        expect([host, path, await statusOf(api, path, { Host: host })]).toEqual([host, path, 403]);
      }
    }
    const answer = await rawRequest(api.server.port, ["GET /v1/tasks HTTP/1.1", "Host: evil.com"]);
    expect(JSON.parse(answer.body).error).toMatchObject({ code: "not_allowed" });
    expect(answer.headers["access-control-allow-origin"]).toBe("*");
  });

  test("requests for this machine are answered on any port and by any of its names", async () => {
    const api = await startApi();
    for (const host of ["localhost", "localhost:1", "127.0.0.1", "127.0.0.1:9999", "[::1]", "[::1]:80", "LOCALHOST"]) {
      expect([host, await statusOf(api, "/v1/tasks", { Host: host })]).toEqual([host, 200]);
    }
  });

  test("pages from elsewhere are rejected, those of this machine and listed ones are not", async () => {
    const api = await startApi({ origins: ["https://board.example"] });
    const status = (origin: string, path = "/v1/tasks") => statusOf(api, path, { Host: "localhost", Origin: origin });
    for (const origin of [
      "http://evil.com",
      "null",
      "https://board.example.evil.com",
      "http://board.example",
      "file://",
    ]) {
      for (const path of [...READS, "/v1/events"])
        expect([origin, path, await status(origin, path)]).toEqual([origin, path, 403]);
    }
    for (const origin of [
      "http://localhost:3000",
      "http://127.0.0.1:1",
      "http://[::1]:8080",
      "https://board.example",
    ]) {
      expect([origin, await status(origin)]).toEqual([origin, 200]);
    }
    expect(await statusOf(api, "/v1/tasks", { Host: "localhost" })).toBe(200);
    const refusal = await failureOf(api.ask("/v1/tasks", { headers: { origin: "http://evil.com" } }));
    expect(refusal.message).toContain("ASYNCAGENTS_API_ORIGINS");
  });

  test("health and OPTIONS are open to everyone", async () => {
    const api = await startApi();
    const evil = { Host: "evil.com", Origin: "http://evil.com" };
    expect(await statusOf(api, "/v1/health", evil)).toBe(200);
    expect(await statusOf(api, "/v1/tasks", evil, "OPTIONS")).toBe(204);
  });
});

describe("the token", () => {
  test("is given to the server's own page only", async () => {
    const api = await startApi();
    const get = (headers: Record<string, string>) => api.ask("/v1/token", { headers });
    expect(await (await get({ "sec-fetch-site": "same-origin" })).json()).toEqual({ token: api.token });
    for (const headers of [
      {},
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "none" },
      { "sec-fetch-site": "same-origin", origin: "http://evil.com" },
      { authorization: `Bearer ${api.token}` },
    ] as Record<string, string>[]) {
      expect([headers, (await failureOf(get(headers))).status]).toEqual([headers, 403]);
    }
    expect(await statusOf(api, "/v1/token", { Host: "evil.com", "Sec-Fetch-Site": "same-origin" })).toBe(403);
  });

  test("is required for every change", async () => {
    const api = await startApi();
    await create(api.store, "one");
    for (const path of ["/v1/tasks", "/v1/tasks/one/cancel", "/v1/tasks/one/resume", "/v1/tasks/none/cancel"]) {
      for (const authorization of [
        "",
        "Bearer",
        "Bearer ",
        `Bearer ${api.token}x`,
        `Bearer ${api.token.slice(1)}`,
        api.token,
        `Basic ${api.token}`,
      ]) {
        const failure = await failureOf(api.post(path, {}, { authorization }));
        expect([path, authorization, failure.status, failure.code]).toEqual([
          path,
          authorization,
          401,
          "not_authorized",
        ]);
        expect(failure.message).toContain("server.json");
      }
      expect((await failureOf(api.ask(path, { method: "POST" }))).status).toBe(401);
    }
    expect((await api.store.task("one"))?.status).toBe("running");
  });

  test("does not help a page of another origin, not even one of this machine", async () => {
    const api = await startApi({ origins: ["https://board.example"] });
    const { port } = api.server;
    for (const origin of [
      "http://evil.com",
      "https://board.example",
      "http://localhost:3000",
      `http://localhost:${port}`,
      "null",
    ]) {
      const failure = await failureOf(api.post("/v1/tasks/none/cancel", {}, { origin }));
      expect([origin, failure.status]).toEqual([origin, 403]);
    }
    const own = await failureOf(api.post("/v1/tasks/none/cancel", {}, { origin: api.url }));
    expect(own.code).toBe("task_not_found");
  });

  test("appears in no other answer and in no log", async () => {
    const api = await startApi({
      store: () => ({
        agentTotals: async () => {
          throw new Error("a fault");
        },
      }),
    });
    const task = await api.client.launch({ description: "x", prompt: "x", agent: "general" });
    const authorization = `Bearer ${api.token}`;
    const texts = [];
    for (const path of [
      ...READS,
      "/v1/stats",
      "/v1/health",
      `/v1/tasks/${task.id}/logs`,
      "/v1/token",
      "/server.json",
    ]) {
      texts.push(await (await api.ask(path, { headers: { authorization } })).text());
      texts.push(await (await api.ask(path, { method: "POST", headers: { authorization }, body: "{" })).text());
    }
    texts.push(...api.logged, ...api.side.logged);
    expect(texts.join("\n")).toContain("a fault");
    expect(texts.join("\n")).not.toContain(api.token);
  });

  test("is 32 random bytes, the same for all servers of a data folder, even after restarts, and different elsewhere", async () => {
    const one = await startApi();
    const other = await startApi({ world: one.world });
    const elsewhere = await startApi();
    expect(Buffer.from(one.token, "base64url")).toHaveLength(32);
    expect(other.token).toBe(one.token);
    expect(elsewhere.token).not.toBe(one.token);
    await Promise.all([one.server.stop(), other.server.stop()]);
    expect((await startApi({ world: one.world })).token).toBe(one.token);
    const file = join(one.world.directory, "token");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, "utf8").trim()).toBe(one.token);
  });

  test("is the same however many processes create it at once", async () => {
    const { directory } = newWorld();
    const program = `import { folderToken } from "${join(root, "src/http/access/token-file.ts")}"; console.log(folderToken(process.argv[1]))`;
    const made = await Promise.all(
      Array.from({ length: 6 }, () => {
        const child = Bun.spawn([process.execPath, "-e", program, directory], { stdio: ["ignore", "pipe", "inherit"] });
        return new Response(child.stdout).text();
      }),
    );
    expect(new Set(made.map((text) => text.trim()))).toEqual(new Set([folderToken(directory)]));
    expect(readdirSync(directory)).toEqual(["token"]);
  }, 30_000);

  test("is not used if others may have read or written it", () => {
    const { directory } = newWorld();
    const file = join(directory, "token");
    const token = folderToken(directory);
    chmodSync(file, 0o644);
    expect(() => folderToken(directory)).toThrow(/other users may have read it \(mode 644\).*Remove it/);
    rmSync(file);
    expect(folderToken(directory)).not.toBe(token);
    rmSync(file);
    writeFileSync(join(directory, "elsewhere"), `${token}\n`, { mode: 0o600 });
    symlinkSync(join(directory, "elsewhere"), file);
    expect(() => folderToken(directory)).toThrow(/cannot be used/);
    rmSync(file);
    writeFileSync(file, "", { mode: 0o600 });
    expect(() => folderToken(directory)).toThrow(/holds no token/);
    if (process.getuid?.() !== 0) return;
    rmSync(file);
    folderToken(directory);
    chownSync(file, 54_321, 54_321);
    expect(() => folderToken(directory)).toThrow(/belongs to another user \(uid 54321\)/);
  });
});

describe("a browser", () => {
  const status = (api: Api, path: string, headers: Record<string, string>) =>
    statusOf(api, path, { Host: "localhost", ...headers });

  test("loads no data for another page, but opens what a person typed and what a page of this machine fetches", async () => {
    const api = await startApi();
    for (const site of ["cross-site", "same-site"]) {
      for (const path of ["/v1/tasks", "/v1/stats", "/v1/events", "/v1/openapi.json", "/v1/instances", "/v1/token"]) {
        expect([site, path, await status(api, path, { "Sec-Fetch-Site": site })]).toEqual([site, path, 403]);
      }
      const fetched = { "Sec-Fetch-Site": site, Origin: "http://localhost:3000" };
      expect(await status(api, "/v1/tasks", fetched)).toBe(200);
      expect(await status(api, "/v1/tasks", { "Sec-Fetch-Site": site, Origin: "http://evil.com" })).toBe(403);
      // A link to the dashboard works: its files contain no data.
      expect([200, 404]).toContain(await status(api, "/", { "Sec-Fetch-Site": site }));
      expect(await status(api, "/v1/health", { "Sec-Fetch-Site": site })).toBe(200);
    }
    for (const site of ["none", "same-origin"]) {
      expect(await status(api, "/v1/tasks", { "Sec-Fetch-Site": site })).toBe(200);
    }
  });
});
