/**
 * `open`: shows the dashboard, or one task there, in the browser. The token never goes into a command's words, which
 * other users can see: on Linux the server recognizes the user's own browser, elsewhere a page in the data folder that
 * only the user can read passes the token on. Where no browser can be opened, the link is printed.
 */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { findDaemon } from "../../daemon/find-daemon.ts";
import { livingServers } from "../../http/discovery.ts";
import type { Command, Invocation } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import { resolveTask } from "../identifiers.ts";
import { assertPerson } from "../person-only.ts";

/** An opener that is still running by then has found a browser. */
const OPENED_MS = 3_000;

export const openCommand: Command = {
  name: "open",
  summary: "open the dashboard in the browser",
  details:
    "With a task, opens its page. Uses $BROWSER, or what the system opens addresses with. Prints the link, with your token in it, if there is no browser here: anyone who has that link can do what you can.",
  operands: [{ name: "task", optional: true, completes: "task" }],
  options: { print: { summary: "only print the link" } },
  examples: ["asyncagents open", "asyncagents open 7KPnYJq", "asyncagents open --print"],
  async run(invocation) {
    const { arguments: given, directory, screen, connection, environment } = invocation;
    assertPerson(invocation, "open the dashboard");
    const [named] = given.operands;
    const task = named === undefined ? null : await resolveTask(await connection.client(), named);
    const server =
      task === null ? (findDaemon(directory) ?? livingServers(directory)[0] ?? null) : await connection.daemon();
    const { url, token } = server ?? (await connection.daemon());
    const page = `${url}/${task === null ? "" : `tasks/${encodeURIComponent(task.id)}`}`;
    const link = `${page}#token=${token}`;
    const opener = given.flag("print") || screen.json ? null : openerFor(process.platform, environment);
    const isOpened = opener !== null && (await opens(opener, addressFor(invocation, page, link)));
    screen.show({ link, url: page, opened: isOpened }, () => screen.line(isOpened ? `Opened ${page}` : link));
    if (isOpened && process.platform === "linux") screen.hint("If the page asks for a token: asyncagents open --print");
    return EXIT.ok;
  },
};

/** The program that opens an address; null where a browser could not show anything. */
export function openerFor(
  platform: NodeJS.Platform,
  environment: Readonly<Record<string, string | undefined>>,
): string[] | null {
  const { BROWSER: browser = "", DISPLAY: display, WAYLAND_DISPLAY: wayland } = environment;
  // A list in order of preference is allowed, and a command with arguments is not common enough.
  const [first = ""] = browser.split(":");
  if (first !== "") return [first];
  if (platform === "darwin") return ["open"];
  if (platform === "win32") return ["explorer"];
  return display || wayland ? ["xdg-open"] : null;
}

function addressFor({ directory }: Invocation, page: string, link: string): string {
  if (process.platform === "linux") return page;
  const file = join(directory, "open.html");
  const script = `location.replace(${JSON.stringify(link).replaceAll("<", "\\u003c")})`;
  writeFileSync(file, `<!doctype html><meta charset="utf-8"><script>${script}</script>\n`, { mode: 0o600 });
  return pathToFileURL(file).href;
}

/** False if the program does not exist, or fails at once. It may also be the browser itself, and keep running. */
function opens([program = "", ...words]: readonly string[], address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(program, [...words, address], { stdio: "ignore", detached: true });
    const timer = setTimeout(() => settle(true), OPENED_MS);
    const settle = (isOpened: boolean) => {
      clearTimeout(timer);
      child.unref();
      resolve(isOpened);
    };
    child.once("error", () => settle(false));
    // The one of Windows always fails.
    child.once("exit", (code) => settle(code === 0 || process.platform === "win32"));
  });
}
