/** The door to other machines behind a TLS proxy: the one that docs/doors.md describes. */
import { expect, test } from "bun:test";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newTokenSecret } from "../../../src/http/access/token-secret.ts";
import { askProxy, freePort, makeCertificate, NAME, PROXIES } from "../bed/tls-proxies.ts";
import { startTokenBed } from "../bed/token-bed.ts";

/** The text that arrives until it contains this; all of it if the answer ends before. */
async function readUntil(answer: IncomingMessage, text: string): Promise<string> {
  let read = "";
  for await (const chunk of answer.iterator({ destroyOnReturn: false })) {
    read += String(chunk);
    if (read.includes(text)) return read;
  }
  return read;
}

async function textOf(answer: IncomingMessage): Promise<string> {
  return readUntil(answer, "\0");
}

test.each(Object.keys(PROXIES))(
  "behind %s: calls, events as they happen, and callers by their own address",
  async (name) => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "asyncagents-proxy-")));
    const ca = makeCertificate(folder);
    const port = freePort();
    const bed = await startTokenBed({ publicUrls: [`https://${NAME}:${port}`], proxies: ["127.0.0.1"] });
    const proxy = await PROXIES[name]?.({ folder, port, target: bed.port });
    const ask = (path: string, secret: string | null, more: Parameters<typeof askProxy>[3] = {}) => {
      const bearer: Record<string, string> = secret === null ? {} : { authorization: `Bearer ${secret}` };
      return askProxy(port, ca, path, { ...more, headers: { ...bearer, ...more.headers } });
    };
    try {
      const page = await ask("/", null);
      expect([page.statusCode, page.headers["content-security-policy"]?.includes("default-src 'none'")]).toEqual([
        200,
        true,
      ]);
      await textOf(page);
      expect((await ask("/v1/tasks", null)).statusCode).toBe(401);
      expect(await textOf(await ask("/v1/caller", bed.secrets.read))).toContain('"name":"the-read"');

      // Its own page over TLS may change things; the same name without TLS, and other sites, may not.
      const add = (origin: string, project: string) => {
        const headers = { origin, "content-type": "application/json" };
        return ask("/v1/board/add_project", bed.secrets.admin, {
          method: "POST",
          body: `{"name":"${project}"}`,
          headers,
        });
      };
      expect((await add("https://evil.example", "no")).statusCode).toBe(403);
      expect((await add(`http://${NAME}:${port}`, "no")).statusCode).toBe(403);

      const secret = await bed.token("reader", "read");
      const stream = await ask("/v1/events", secret);
      expect(await readUntil(stream, "\n\n")).toContain("event: snapshot");
      expect((await add(`https://${NAME}:${port}`, "yes")).statusCode).toBe(200);
      expect(await readUntil(stream, "board.changed")).toContain("event: board.changed");
      await bed.side.store.access.revokeToken("reader", Date.now());
      await textOf(stream);
      expect((await ask("/v1/caller", secret)).statusCode).toBe(401);

      // What a caller writes into the header does not hide its address.
      const statuses: (number | undefined)[] = [];
      for (let index = 0; index < 22; index++) {
        const headers = { "x-forwarded-for": `203.0.113.${index}`, "x-real-ip": `203.0.113.${index}` };
        statuses.push((await ask("/v1/caller", newTokenSecret(), { headers })).statusCode);
      }
      expect(statuses.at(-1)).toBe(429);
      expect(bed.logged.filter((line) => line.includes("a token was rejected"))).toEqual([
        expect.stringContaining('"address":"127.0.0.1"'),
      ]);
    } finally {
      await proxy?.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
  30_000,
);
