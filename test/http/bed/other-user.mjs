/**
 * What another user of the machine tries against a server; runs as that user, under Node. Reads its instructions from
 * stdin and finally prints which statuses it got and what the answers said. Imports nothing of ours, because that
 * user cannot read it.
 */
import { readdirSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";

/** Sends and reads until the server closes; or disconnects immediately, cleanly (`fin`) or not (`reset`). */
function exchange(port, bytes, { leave = null, local = {} } = {}) {
  return new Promise((resolve) => {
    let received = "";
    const socket = connect({ port, host: "127.0.0.1", ...local });
    socket.setTimeout(20_000, () => socket.destroy());
    socket.on("connect", () => {
      socket.write(bytes, () => {
        if (leave === "reset") socket.resetAndDestroy();
        if (leave === "fin") socket.end(() => socket.destroy());
      });
    });
    socket.on("data", (chunk) => {
      received += chunk;
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(received));
  });
}

function rawRequest({ method, path, body }, headers = {}) {
  const all = { Host: "127.0.0.1", Connection: "close", "Content-Length": Buffer.byteLength(body), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return [`${method} ${path} HTTP/1.1`, ...lines, "", body].join("\r\n");
}

const JSON_BODY = {
  "Content-Type": "application/json",
  Accept: "application/json, text/event-stream",
};
const own = (port) => ({
  Host: `127.0.0.1:${port}`,
  Origin: `http://127.0.0.1:${port}`,
  "Sec-Fetch-Site": "same-origin",
});
const FORGED = [
  (port) => own(port),
  (port) => ({ Host: `127.0.0.1:${port}`, "Sec-Fetch-Site": "same-origin" }),
  () => ({ Host: "localhost", "X-Forwarded-For": "127.0.0.1", Forwarded: "for=127.0.0.1" }),
  () => ({ Authorization: "Bearer " }),
  () => ({ Authorization: "Bearer undefined", "X-Asyncagents-Forwarded": "1" }),
  () => ({ Authorization: `Bearer ${"A".repeat(43)}` }),
  () => ({ Authorization: "Basic cm9vdDpyb290" }),
  () => ({ "Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate" }),
];

const WAYS = {
  plain: ({ port, request }) => exchange(port, rawRequest(request, JSON_BODY)),
  headers: ({ port, request, index }) =>
    exchange(port, rawRequest(request, { ...JSON_BODY, ...FORGED[index % FORGED.length](port) })),
  reset: ({ port, request }) => exchange(port, rawRequest(request, JSON_BODY), { leave: "reset" }),
  fin: ({ port, request }) => exchange(port, rawRequest(request, JSON_BODY), { leave: "fin" }),
  /** From the port of a connection that the owner has open, at another of this machine's addresses. */
  port: ({ port, request, index, ownerPort }) => {
    const local = { localAddress: `127.0.0.${2 + (index % 200)}`, localPort: ownerPort };
    return exchange(port, rawRequest(request, { ...JSON_BODY, ...own(port) }), { local });
  },
  /** Pipelined behind a request that everyone may make, on the same connection. */
  pipelined: async ({ port, request }) => {
    const open = rawRequest({ method: "GET", path: "/v1/health", body: "" }, { Connection: "keep-alive" });
    const answers = await exchange(port, open + rawRequest(request, { ...JSON_BODY, ...own(port) }));
    return answers.slice(answers.indexOf("HTTP/1.1", 1));
  },
};

function readFiles(folder) {
  const read = [];
  const look = (path) => {
    try {
      for (const entry of readdirSync(path, { withFileTypes: true })) {
        const file = join(path, entry.name);
        if (entry.isDirectory()) look(file);
        else read.push(readable(file));
      }
    } catch {
      read.push(null);
    }
  };
  look(folder);
  return read;
}

function readable(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}

const { way, port, tries, requests, ownerPort, folder } = JSON.parse(readFileSync(0, "utf8"));
const statuses = {};
const answers = new Set();
const files = way === "files" ? Array.from({ length: tries }, () => readFiles(folder)).flat() : [];
for (let index = 0; index < (way === "files" ? 0 : tries); index++) {
  const request = requests[index % requests.length];
  const answer = await WAYS[way]({ port, request, index, ownerPort });
  const status = answer.slice(9, 12);
  statuses[status] = (statuses[status] ?? 0) + 1;
  answers.add(answer.slice(answer.indexOf("\r\n\r\n")));
}
const texts = [...answers, ...files.filter((text) => text !== null)];
console.log(JSON.stringify({ user: process.geteuid(), statuses, texts: texts.slice(0, 200), tried: files.length }));
