import { afterAll, expect, test } from "bun:test";
import { answerLength, requestRate } from "../../bench/status/request-load.ts";

const answered: string[] = [];
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch(request) {
    const { pathname } = new URL(request.url);
    answered.push(pathname);
    return pathname === "/large" ? new Response("x".repeat(300_000)) : new Response(null, { status: 404 });
  },
});
afterAll(() => server.stop(true));

test("every request is answered once and completely, and a write precedes each", async () => {
  let writes = 0;
  const before = () => {
    writes++;
  };
  expect(await requestRate({ url: server.url.href, path: "/large", before }, 50)).toBeGreaterThan(0);
  expect([answered.filter((path) => path === "/large").length, writes]).toEqual([50, 50]);
});

test("an unsuccessful answer ends the load", async () => {
  const load = { url: server.url.href, path: "/nothing", before() {} };
  await expect(requestRate(load, 10)).rejects.toThrow("404");
});

test("only a successful answer has a length", () => {
  expect(answerLength("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12")).toBe(12);
  expect(answerLength("HTTP/1.1 500 Internal\r\nContent-Length: 12")).toBeNull();
  expect(answerLength("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked")).toBeNull();
});
