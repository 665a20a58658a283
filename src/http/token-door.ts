/**
 * The door to other machines (`asyncagents up --listen`): the same app as on this machine, where only tokens count.
 * Pages of other sites get nothing, so no response has CORS headers. Trusts no forwarded header, unless the proxy that
 * sends it is named in the settings, and then only for the caller's address.
 */
import type { TokenCheck } from "../engine/access/token-check.ts";
import { AsyncAgentsError, messageOf } from "../model/errors.ts";
import { TokenGuard } from "./access/token-guard.ts";
import { type DoorOptions, type DoorServer, openDoor } from "./door.ts";
import type { ListenSettings } from "./listen-settings.ts";
import { CORS } from "./reply.ts";

export interface TokenDoorOptions {
  settings: ListenSettings;
  tokens: TokenCheck;
}

type SharedOptions = Pick<DoorOptions, "context" | "streams" | "page" | "mcp">;

/** Throws `daemon_unavailable` if nothing can listen there: another port would not be found by anybody. */
export function openTokenDoor({ settings, tokens }: TokenDoorOptions, shared: SharedOptions): DoorServer {
  const { address, port, publicUrls, proxies } = settings;
  const { log, now } = shared.context;
  try {
    return openDoor({
      ...shared,
      address,
      ports: [port],
      // The token of the data folder is for this machine only.
      context: { ...shared.context, token: "" },
      guard: (server) => {
        const addressOf = (request: Request) => callerAddress(request, server(), proxies);
        return new TokenGuard({ tokens, publicUrls, addressOf, log, now });
      },
      finish: forOneSite,
    });
  } catch (cause) {
    const where = `${address}, port ${port}`;
    const message = `Cannot listen on ${where} (${messageOf(cause)}). Choose another address or port with --listen.`;
    throw new AsyncAgentsError("daemon_unavailable", message, { cause });
  }
}

/** The last address in the list is the one that the proxy itself saw; callers can send any others. */
function callerAddress(request: Request, server: DoorServer, proxies: readonly string[]): string {
  const peer = server.requestIP(request)?.address.replace(/^::ffff:(?=\d+\.)/i, "") ?? "";
  if (!proxies.includes(peer)) return peer;
  return request.headers.get("x-forwarded-for")?.split(",").at(-1)?.trim() || peer;
}

function forOneSite(response: Response): Response {
  for (const name of Object.keys(CORS)) response.headers.delete(name);
  response.headers.set("cross-origin-resource-policy", "same-origin");
  return response;
}
