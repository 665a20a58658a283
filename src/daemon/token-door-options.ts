/**
 * What the daemon needs to open its door to other machines. Refused while there is no token: nobody could use such a
 * door, and whoever opened it probably expects it to be open to all.
 */
import { TokenCheck } from "../engine/access/token-check.ts";
import { listenSettings, type WantedDoor } from "../http/listen-settings.ts";
import type { TokenDoorOptions } from "../http/token-door.ts";
import { AsyncAgentsError } from "../model/errors.ts";
import { systemClock } from "../process/clock.ts";
import type { Store } from "../store/store.ts";

/** Null if no such door is wanted. Throws `invalid_input`, or `not_authorized` without tokens. */
export async function tokenDoorOptions(
  store: Pick<Store, "access">,
  wanted: WantedDoor,
): Promise<TokenDoorOptions | null> {
  const settings = listenSettings(wanted);
  if (settings === null) return null;
  const { now } = systemClock;
  if (await store.access.hasUsableToken(now())) return { settings, tokens: new TokenCheck({ store, now }) };
  const remedy = "Create one first: asyncagents token create --role admin --name me";
  throw new AsyncAgentsError("not_authorized", `--listen needs a token, and there is none that works. ${remedy}`);
}
