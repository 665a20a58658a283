import { expect, test } from "bun:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { Page } from "../../src/http/page.ts";

const page = new Page();

async function get(path: string, headers: Record<string, string> = {}) {
  const response = page.answer(path, new Headers(headers));
  if (response === null) return null;
  return { response, body: Buffer.from(await response.arrayBuffer()) };
}

async function script(): Promise<string> {
  const index = await get("/");
  const path = /src="(\/assets\/[^"]+\.js)"/.exec(index?.body.toString() ?? "")?.[1];
  if (path === undefined) throw new Error("The dashboard is not built.");
  return path;
}

test("files are sent compressed to clients that accept it, with the same content", async () => {
  for (const path of ["/", await script()]) {
    const plain = await get(path);
    expect(plain?.response.headers.get("content-encoding")).toBeNull();
    const brotli = await get(path, { "accept-encoding": "gzip, deflate, br, zstd" });
    expect(brotli?.response.headers.get("content-encoding")).toBe("br");
    expect(brotliDecompressSync(brotli?.body ?? "")).toEqual(plain?.body ?? Buffer.of());
    const gzip = await get(path, { "accept-encoding": "br;q=0, gzip" });
    expect(gzip?.response.headers.get("content-encoding")).toBe("gzip");
    expect(gunzipSync(gzip?.body ?? "")).toEqual(plain?.body ?? Buffer.of());
    expect(gzip?.response.headers.get("vary")).toBe("accept-encoding");
    expect(gzip?.response.headers.get("content-type")).toBe(plain?.response.headers.get("content-type") ?? "");
  }
});

test("what the page needs first is less than 150 kB on the wire", async () => {
  const index = (await get("/"))?.body.toString() ?? "";
  const paths = [...index.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path ?? "");
  expect(paths.length).toBeGreaterThan(1);
  const sent = await Promise.all(paths.map((path) => get(path, { "accept-encoding": "br" })));
  expect(sent.reduce((sum, file) => sum + (file?.body.length ?? Number.NaN), 0)).toBeLessThan(150_000);
});

test("a person at an unknown address gets the page, which says so; a program gets nothing from here", async () => {
  const html = { accept: "text/html,application/xhtml+xml" };
  for (const path of ["/nowhere", "/tasks/a/b", "/board/a/b"]) {
    const answer = await get(path, html);
    expect(answer?.response.status).toBe(404);
    expect(answer?.body.toString()).toContain("<div id=");
    expect(await get(path)).toBeNull();
  }
  expect(await get("/v1/nowhere", html)).toBeNull();
  expect((await get("/tasks/a", html))?.response.status).toBe(200);
});
