/**
 * TLS proxies in front of the door to other machines, from the files in examples/proxy: the real nginx and the real
 * Caddy where they are installed, and always a small one of our own that behaves like them. Each ends with the test.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { createServer, request as httpsRequest } from "node:https";
import { join } from "node:path";
import { pause } from "../../../src/process/deadline.ts";
import { root } from "../../ground/repository.ts";

export const NAME = "agents.example.org";
const START_TRIES = 200;

export interface Proxy {
  stop(): Promise<void>;
}

interface ProxyPlace {
  folder: string;
  /** Where it listens. */
  port: number;
  /** Where it forwards to. */
  target: number;
}

export const PROXIES: Record<string, (place: ProxyPlace) => Promise<Proxy>> = {
  ...(Bun.which("nginx") && { nginx: startNginx }),
  ...(Bun.which("caddy") && { Caddy: startCaddy }),
  "a proxy of our own": startOwn,
};

/** A certificate for the name, signed by itself. */
export function makeCertificate(folder: string): string {
  const subject = ["-subj", `/CN=${NAME}`, "-addext", `subjectAltName=DNS:${NAME}`];
  const files = ["-keyout", join(folder, "key.pem"), "-out", join(folder, "cert.pem")];
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  execFileSync("openssl", ["req", "-x509", "-days", "2", ...key, ...subject, ...files], { stdio: "ignore" });
  return readFileSync(join(folder, "cert.pem"), "utf8");
}

export function freePort(): number {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const { port = 0 } = server;
  void server.stop(true);
  return port;
}

/** Sends a request over TLS, to the name, and resolves with the head of the answer. */
export function askProxy(
  port: number,
  ca: string,
  path: string,
  {
    method = "GET",
    body = "",
    headers = {},
  }: { method?: string; body?: string; headers?: Record<string, string> } = {},
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const given = { host: `${NAME}:${port}`, ...headers };
    const place = { host: "127.0.0.1", port, servername: NAME, ca, agent: false as const };
    httpsRequest({ ...place, path, method, headers: given }, resolve)
      .on("error", reject)
      .end(body);
  });
}

function exampleOf(name: string, changes: Record<string, string>): string {
  let text = readFileSync(join(root, "examples/proxy", name), "utf8");
  for (const [from, to] of Object.entries(changes)) {
    if (!text.includes(from)) throw new Error(`${name} has no "${from}"`);
    text = text.replaceAll(from, to);
  }
  return text;
}

async function startNginx({ folder, port, target }: ProxyPlace): Promise<Proxy> {
  const live = `/etc/letsencrypt/live/${NAME}`;
  const site = exampleOf("nginx.conf", {
    "listen 443 ssl": `listen 127.0.0.1:${port} ssl`,
    "127.0.0.1:5265": `127.0.0.1:${target}`,
    [`${live}/fullchain.pem`]: join(folder, "cert.pem"),
    [`${live}/privkey.pem`]: join(folder, "key.pem"),
  });
  const kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  const paths = kinds.map((kind) => `${kind}_temp_path ${join(folder, kind)};`).join("\n");
  const user = process.geteuid?.() === 0 ? "user root;\n" : "";
  const main = `${user}daemon off;\npid ${join(folder, "nginx.pid")};\nevents {}\nhttp {\naccess_log off;\n${paths}\n${site}\n}\n`;
  writeFileSync(join(folder, "nginx.conf"), main);
  return started(
    ["nginx", "-p", folder, "-c", join(folder, "nginx.conf"), "-e", join(folder, "error.log")],
    folder,
    port,
  );
}

async function startCaddy({ folder, port, target }: ProxyPlace): Promise<Proxy> {
  const files = `${join(folder, "cert.pem")} ${join(folder, "key.pem")}`;
  const site = exampleOf("Caddyfile", {
    [`${NAME} {`]: `https://${NAME}:${port} {\n\tbind 127.0.0.1\n\ttls ${files}`,
    "reverse_proxy 127.0.0.1:5265": `reverse_proxy 127.0.0.1:${target}`,
  });
  writeFileSync(join(folder, "Caddyfile"), `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${site}`);
  return started(["caddy", "run", "--adapter", "caddyfile", "--config", join(folder, "Caddyfile")], folder, port);
}

async function started(command: string[], folder: string, port: number): Promise<Proxy> {
  mkdirSync(join(folder, "home"));
  const log = Bun.file(join(folder, "proxy.log"));
  const env = { PATH: process.env.PATH ?? "", HOME: join(folder, "home") };
  const child = Bun.spawn(command, { cwd: folder, env, stdout: log, stderr: log });
  const stop = async () => {
    child.kill();
    await child.exited;
  };
  for (let tries = 0; tries < START_TRIES && child.exitCode === null; tries++, await pause(25)) {
    const isUp = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {} } }).then(
      (socket) => {
        socket.end();
        return true;
      },
      () => false,
    );
    if (isUp) return { stop };
  }
  await stop();
  throw new Error(`${command[0]} did not start: ${await log.text()}`);
}

/** Passes everything on at once, with the caller's address at the end of X-Forwarded-For. */
async function startOwn({ folder, port, target }: ProxyPlace): Promise<Proxy> {
  const [cert, key] = ["cert.pem", "key.pem"].map((file) => readFileSync(join(folder, file)));
  const server = createServer({ cert, key }, (given, answer) => {
    const seen = given.headers["x-forwarded-for"];
    const address = given.socket.remoteAddress ?? "";
    const headers = {
      ...given.headers,
      "x-forwarded-for": seen === undefined ? address : `${seen}, ${address}`,
      "x-forwarded-proto": "https",
      "x-forwarded-host": given.headers.host ?? "",
    };
    const { method, url: path } = given;
    const passed = httpRequest({ host: "127.0.0.1", port: target, method, path, headers, agent: false }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      answer.flushHeaders();
      response.pipe(answer);
    });
    passed.on("error", () => answer.destroy());
    answer.on("close", () => passed.destroy());
    given.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
