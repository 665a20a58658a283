/**
 * Serves the dashboard's files: read once from its build, also in compressed form, and kept in memory. A request
 * selects one of them by name and never becomes a path. Strict content policy: only this server's own scripts and
 * styles, and no embedding in other pages.
 */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { CORS, replyJson } from "./reply.ts";

const BUILD = new URL("../../dashboard/dist/", import.meta.url);

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const TYPES: Record<string, string> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  png: "image/png",
  woff2: "font/woff2",
};

/** The paths that the dashboard routes itself. */
const PAGES = /^\/(tasks\/[^/]+|batches\/[^/]+|stats|board(\/[^/]+)?|items\/[^/]+|attempts\/[^/]+)?$/;

/** Best first: the encoding's name, and the suffix of files in it. */
const ENCODINGS = [
  { name: "br", ending: ".br" },
  { name: "gzip", ending: ".gz" },
];

export class Page {
  #files: Map<string, Uint8Array<ArrayBuffer>> | null = null;

  /** The file for a path; null if there is none and the client does not accept HTML. */
  answer(path: string, headers: Headers): Response | null {
    const name = PAGES.test(path) ? "index.html" : path.slice(1);
    const found = this.#response(name, 200, headers);
    if (found) return found;
    if (name === "index.html") return notBuilt();
    const asksForPage = headers.get("accept")?.includes("text/html") ?? false;
    // The page itself says that there is nothing here.
    return asksForPage && !path.startsWith("/v1/") ? this.#response("index.html", 404, headers) : null;
  }

  #response(name: string, status: number, asked: Headers): Response | null {
    this.#files ??= readBuild();
    const files = this.#files;
    const plain = files.get(name);
    if (!plain) return null;
    const accepted = asked.get("accept-encoding") ?? "";
    const encoding = ENCODINGS.find((each) => accepts(accepted, each.name) && files.has(name + each.ending));
    const forever = name.startsWith("assets/");
    return new Response(encoding ? files.get(name + encoding.ending) : plain, {
      status,
      headers: {
        ...CORS,
        ...(encoding && { "content-encoding": encoding.name }),
        vary: "accept-encoding",
        "content-type": TYPES[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream",
        "content-security-policy": POLICY,
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cache-control": forever ? "public, max-age=31536000, immutable" : "no-cache",
      },
    });
  }
}

function accepts(header: string, name: string): boolean {
  const entry = header.split(",").find((each) => each.trim().split(";")[0]?.trim() === name);
  return entry !== undefined && !/;\s*q=0(\.0*)?\s*$/.test(entry);
}

function readBuild(): Map<string, Uint8Array<ArrayBuffer>> {
  const files = new Map<string, Uint8Array<ArrayBuffer>>();
  try {
    for (const entry of readdirSync(BUILD, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const file = `${entry.parentPath}/${entry.name}`;
      files.set(file.slice(fileURLToPath(BUILD).length).replace(/^\//, ""), new Uint8Array(readFileSync(file)));
    }
  } catch {
    // Not built: whoever asks for the page is told so.
  }
  return files;
}

function notBuilt(): Response {
  const message = "The dashboard is not built. Run `npm run build` where asyncagents is installed from source.";
  return replyJson({ error: { code: "no_such_path", message } }, 404);
}
