/** Attacks on the door to other machines: tokens that no longer work, odd headers, other sites' pages, many tries. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { FailedTries } from "../../../src/http/access/failed-tries.ts";
import { newTokenSecret } from "../../../src/http/access/token-secret.ts";
import { listenSettings } from "../../../src/http/listen-settings.ts";
import { rawRequest } from "../bed/raw-request.ts";
import { callTool, startTokenBed, type TokenBed } from "../bed/token-bed.ts";

/** The answer's status to a request with exactly these header lines. */
async function statusOf(
  { port }: TokenBed,
  lines: readonly string[],
  first = "GET /v1/tasks HTTP/1.1",
): Promise<number> {
  return (await rawRequest(port, [first, ...lines])).status;
}

const HOST = "Host: 127.0.0.1";

describe("a token that no longer works", () => {
  test("is refused at once, also where a stream is open with it, which ends within seconds", async () => {
    const bed = await startTokenBed();
    const [kept, lost] = [await bed.token("kept", "read"), await bed.token("lost", "read")];
    const streams = await Promise.all([kept, lost].map((secret) => bed.ask("/v1/events", secret)));
    const [stays, ends] = streams.map(({ body }) => body?.getReader());
    for (const reader of [stays, ends]) expect((await reader?.read())?.done).toBe(false);
    const since = performance.now();
    await bed.side.store.access.revokeToken("lost", Date.now());
    expect((await bed.ask("/v1/tasks", lost)).status).toBe(401);
    expect(await callTool(bed, lost, "list_projects", {})).toContain("does not work");
    expect((await ends?.read())?.done).toBe(true);
    expect(performance.now() - since).toBeLessThan(5_000);
    await bed.side.call("add_project", { name: "x" });
    expect(new TextDecoder().decode((await stays?.read())?.value)).toContain("board.changed");
    await stays?.cancel();
  }, 20_000);

  test("is refused from the moment when it expires, and its streams end", async () => {
    const bed = await startTokenBed();
    const past = await bed.token("past", "admin", Date.now() - 1);
    expect((await bed.ask("/v1/tasks", past)).status).toBe(401);
    const soon = await bed.token("soon", "read", Date.now() + 1_500);
    const reader = (await bed.ask("/v1/events", soon)).body?.getReader();
    expect((await reader?.read())?.done).toBe(false);
    expect((await reader?.read())?.done).toBe(true);
    expect((await bed.ask("/v1/tasks", soon)).status).toBe(401);
  }, 20_000);

  test("one token does not take all streams", async () => {
    const bed = await startTokenBed();
    const answers = await Promise.all(Array.from({ length: 210 }, () => bed.ask("/v1/events", bed.secrets.read)));
    const byStatus = Map.groupBy(answers, ({ status }) => status);
    expect([byStatus.get(200)?.length, byStatus.get(503)?.length]).toEqual([200, 10]);
    expect((await bed.ask("/v1/events", bed.secrets.admin)).status).toBe(200);
    for (const { body } of answers) await body?.cancel();
  }, 20_000);
});

describe("a token counts only in one Authorization header", () => {
  test("not in the address, a cookie, a body, another header or another scheme", async () => {
    const bed = await startTokenBed();
    const good = bed.secrets.admin;
    for (const name of ["token", "access_token", "authorization", "bearer"]) {
      const first = `GET /v1/tasks?${name}=${good} HTTP/1.1`;
      expect([name, await statusOf(bed, [HOST], first)]).toEqual([name, 401]);
    }
    for (const line of [
      `Cookie: token=${good}; authorization=Bearer ${good}`,
      `X-Authorization: Bearer ${good}`,
      `Proxy-Authorization: Bearer ${good}`,
      `Authorization: Basic ${btoa(`:${good}`)}`,
      `Authorization: ${good}`,
      `Authorization: Bearer`,
      `Authorization: Bearer ${good} ${good}`,
      `Authorization: Bearer ${good},`,
      `Authorization: Bearer "${good}"`,
      `Authorization: Bearer ${good.toUpperCase()}`,
      `Authorization: Bearer ${good}\\0`,
    ]) {
      expect([line, await statusOf(bed, [HOST, line])]).toEqual([line, 401]);
    }
    expect((await bed.post("/v1/tasks", { token: good, authorization: `Bearer ${good}` })).status).toBe(401);
  });

  test("several headers are refused, whichever is good; the scheme's case does not matter", async () => {
    const bed = await startTokenBed();
    const good = `Authorization: Bearer ${bed.secrets.read}`;
    for (const lines of [
      [good, "Authorization: Bearer x"],
      ["Authorization: Bearer x", good],
      [good, good],
      [good, `authorization: Bearer ${bed.secrets.admin}`],
    ]) {
      const status = await statusOf(bed, [HOST, ...lines]);
      expect([lines, [400, 401].includes(status)]).toEqual([lines, true]);
    }
    for (const scheme of ["Bearer", "bearer", "BEARER"]) {
      expect(await statusOf(bed, [HOST, `authorization: ${scheme} ${bed.secrets.read}`])).toBe(200);
    }
  });

  test("headers of our own programs raise nobody's rights", async () => {
    const bed = await startTokenBed();
    const raised = {
      "x-asyncagents-door": "person",
      "x-asyncagents-depth": "0",
      "x-asyncagents-role": "admin",
      "x-forwarded-user": "root",
      "x-forwarded-for": "127.0.0.1",
      "x-real-ip": "127.0.0.1",
      forwarded: "for=127.0.0.1;host=localhost",
      "sec-fetch-site": "same-origin",
    };
    expect((await bed.post("/v1/board/add_project", { name: "x" }, bed.secrets.read, raised)).status).toBe(403);
    expect((await bed.post("/v1/board/add_project", { name: "x" }, undefined, raised)).status).toBe(401);
    expect((await bed.ask("/v1/token", undefined, { headers: raised })).status).toBe(401);
    expect(await (await bed.ask("/v1/token", bed.secrets.admin, { headers: raised })).text()).not.toContain(
      bed.folderToken,
    );
  });
});

describe("other names and other sites", () => {
  test("a host that is neither an address nor the public one is refused; addresses cannot be rebound", async () => {
    const bed = await startTokenBed({ publicUrls: ["https://agents.example.org", "http://agents:8080"] });
    const good = `Authorization: Bearer ${bed.secrets.read}`;
    const as = (host: string, path = "/v1/tasks") => statusOf(bed, [`Host: ${host}`, good], `GET ${path} HTTP/1.1`);
    for (const host of [
      "evil.com",
      "agents.example.org.evil.com",
      "agents.example.org:81",
      "agents",
      "127.0.0.1.evil.com",
      "127.0.0.1@evil.com",
      "evil.com#127.0.0.1",
      "",
    ]) {
      for (const path of ["/", "/v1/tasks", "/v1/health", "/mcp", "/v1/nothing"]) {
        expect([host, path, [400, 403].includes(await as(host, path))]).toEqual([host, path, true]);
      }
    }
    for (const host of ["127.0.0.1", "192.168.1.5:99", "[::1]", "localhost", "agents.example.org", "agents:8080"]) {
      expect([host, await as(host)]).toEqual([host, 200]);
    }
    const spoofed = ["Host: evil.com", "X-Forwarded-Host: agents.example.org", good];
    expect(await statusOf(bed, spoofed)).toBe(403);
  });

  test("pages of other origins are refused, with a good token too; the door's own page is not", async () => {
    const bed = await startTokenBed({ publicUrls: ["https://agents.example.org"] });
    const good = `Authorization: Bearer ${bed.secrets.admin}`;
    const from = (host: string, origin: string, method = "GET") =>
      statusOf(bed, [`Host: ${host}`, `Origin: ${origin}`, good], `${method} /v1/tasks/none HTTP/1.1`);
    for (const origin of [
      "null",
      "http://evil.com",
      "http://agents.example.org",
      "https://agents.example.org:444",
      "file://",
    ]) {
      expect([origin, await from("agents.example.org", origin)]).toEqual([origin, 403]);
    }
    for (const origin of ["null", "http://127.0.0.1:1", "http://localhost", `https://127.0.0.1:${bed.port}`]) {
      expect([origin, await from(`127.0.0.1:${bed.port}`, origin)]).toEqual([origin, 403]);
    }
    expect(await from("agents.example.org", "https://agents.example.org")).toBe(404);
    expect(await from(`127.0.0.1:${bed.port}`, `http://127.0.0.1:${bed.port}`)).toBe(404);
  });

  test("no answer lets pages of other sites read it; the door on this machine is as it was", async () => {
    const bed = await startTokenBed();
    for (const [path, method] of [
      ["/", "GET"],
      ["/v1/tasks", "GET"],
      ["/v1/tasks", "OPTIONS"],
      ["/v1/events", "GET"],
      ["/v1/nothing", "GET"],
      ["/mcp", "POST"],
    ] as const) {
      const answer = await bed.ask(path, bed.secrets.read, { method });
      const allowing = [...answer.headers.keys()].filter((name) => name.startsWith("access-control"));
      expect([path, allowing, answer.headers.get("cross-origin-resource-policy")]).toEqual([path, [], "same-origin"]);
      await answer.body?.cancel();
    }
    const here = await fetch(`${bed.server.url}/v1/health`);
    expect(here.headers.get("access-control-allow-origin")).toBe("*");
    expect(
      (await fetch(`${bed.server.url}/v1/tasks`, { headers: { authorization: `Bearer ${bed.secrets.admin}x` } }))
        .status,
    ).not.toBe(401);
    const change = { method: "POST", headers: { authorization: `Bearer ${bed.secrets.admin}` }, body: "{}" };
    expect((await fetch(`${bed.server.url}/v1/board/list_projects`, change)).status).toBe(401);
  });
});

describe("many tries", () => {
  test("after twenty wrong tokens an address waits, but a good token there does not; ten thousand leave nothing behind", async () => {
    const bed = await startTokenBed();
    expect((await bed.ask("/v1/caller", bed.secrets.read)).status).toBe(200);
    const statuses = new Map<number, number>();
    const before = process.memoryUsage().heapUsed;
    for (let round = 0; round < 100; round++) {
      const tries = Array.from({ length: 100 }, () => bed.ask("/v1/caller", newTokenSecret()));
      for (const answer of await Promise.all(tries)) {
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        await answer.body?.cancel();
      }
    }
    Bun.gc(true);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(20 * 1024 * 1024);
    expect([...statuses.keys()].sort()).toEqual([401, 429]);
    // Those that were on their way together when the first ones failed are answered, too.
    expect(statuses.get(401)).toBeLessThan(200);
    expect((await bed.ask("/v1/caller", bed.secrets.read)).status).toBe(200);
    // A token that this door has not seen waits like all others.
    expect((await bed.ask("/v1/caller", bed.secrets.admin)).status).toBe(429);
    expect(bed.logged.filter((line) => line.includes("a token was rejected"))).toHaveLength(1);
  }, 60_000);

  test("requests without a token do not make anybody wait", async () => {
    const bed = await startTokenBed();
    for (let count = 0; count < 50; count++) expect((await bed.ask("/v1/tasks")).status).toBe(401);
    expect((await bed.ask("/v1/tasks", bed.secrets.read)).status).toBe(200);
  });

  test("behind a proxy that is trusted, the address is the one that the proxy saw; otherwise the header means nothing", async () => {
    for (const proxies of [[], ["127.0.0.1"]]) {
      const bed = await startTokenBed({ proxies });
      const as = (address: string, secret: string) =>
        bed.ask("/v1/caller", secret, { headers: { "x-forwarded-for": `9.9.9.9, ${address}` } });
      for (let count = 0; count < 25; count++) await as("203.0.113.7", newTokenSecret());
      expect((await as("203.0.113.7", bed.secrets.read)).status).toBe(429);
      expect((await as("203.0.113.8", bed.secrets.read)).status).toBe(proxies.length === 0 ? 429 : 200);
    }
  });

  test("the memory of tries is bounded, by address, and an IPv6 network counts as one", () => {
    let now = 0;
    const tries = new FailedTries(() => now);
    for (let index = 0; index < 50_000; index++) tries.add(`10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`);
    expect(tries.size).toBe(10_000);
    for (let index = 0; index < 20; index++) tries.add(`2001:db8::${index + 1}`);
    expect(tries.waitOf("2001:db8:0:0:ffff::1")).toBe(60_000);
    expect(tries.waitOf("2001:db8:0:1::1")).toBe(0);
    for (let index = 0; index < 20; index++) tries.add("::ffff:192.0.2.1");
    expect(tries.waitOf("192.0.2.1")).toBe(60_000);
    now = 60_000;
    expect(tries.waitOf("192.0.2.1")).toBe(0);
    expect(tries.add("192.0.2.1")).toBe(1);
  });
});

test("secrets appear in no log, no error, no record and not in the store", async () => {
  const bed = await startTokenBed();
  const wrong = newTokenSecret();
  const texts: string[] = [];
  for (const secret of [wrong, bed.secrets.admin]) {
    for (const path of ["/v1/tasks", `/v1/tasks/${secret}`, "/v1/caller", "/v1/openapi.json", "/v1/audit", "/mcp"]) {
      const answer = await bed.ask(path, secret);
      if (!path.includes(secret)) texts.push(await answer.text());
      texts.push(await (await bed.post("/v1/board/add_project", { name: "x", request_id: "y" }, secret)).text());
    }
  }
  const { folder, logged } = bed.side;
  texts.push(...logged, readFileSync(join(folder, "server.json"), "utf8"));
  for (const file of ["asyncagents.db", "asyncagents.db-wal"]) texts.push(readFileSync(join(folder, file), "latin1"));
  for (const secret of [wrong, ...Object.values(bed.secrets)]) expect(texts.join("\n")).not.toContain(secret);
});

test("the last use of a token is stored once, not with each request", async () => {
  const bed = await startTokenBed();
  const { access } = bed.side.store;
  let writes = 0;
  const touch = access.touchToken;
  access.touchToken = (id, at) => {
    writes++;
    return touch(id, at);
  };
  for (let count = 0; count < 20; count++) await bed.ask("/v1/tasks", bed.secrets.read);
  expect(writes).toBe(1);
});

test("an address to listen on is an IP address; what is wrong is an error, never another door", () => {
  const listen = (address: string | undefined, more = {}) =>
    listenSettings({ address, publicUrls: [], trustedProxies: [], ...more });
  const place = (address: string, port: number) => ({ address, port, publicUrls: [], proxies: [] });
  expect(listen(undefined)).toBeNull();
  expect(listen("0.0.0.0")).toEqual(place("0.0.0.0", 5265));
  expect(listen("10.0.0.5:8080")).toEqual(place("10.0.0.5", 8080));
  expect(listen("::")).toEqual(place("::", 5265));
  expect(listen("[::1]:80")).toEqual(place("::1", 80));
  expect(listen("[fe80::1]")).toEqual(place("fe80::1", 5265));
  for (const text of [
    "localhost",
    "example.org:80",
    "1.2.3",
    "1.2.3.4:",
    "1.2.3.4:70000",
    "1.2.3.4:x",
    "[1::2",
    ":80",
  ]) {
    expect(() => listen(text)).toThrow("--listen takes an IP address");
  }
  const urls = (text: string) => listen("0.0.0.0", { publicUrls: [text] })?.publicUrls;
  expect(urls("https://A.example.org/")).toEqual(["https://a.example.org"]);
  for (const text of ["agents.example.org", "ftp://a", "https://a/b", "https://u:p@a", "https://a?x=1"]) {
    expect(() => urls(text)).toThrow("--public-url takes the address");
  }
  expect(() => listen("0.0.0.0", { trustedProxies: ["proxy"] })).toThrow("takes IP addresses");
});
