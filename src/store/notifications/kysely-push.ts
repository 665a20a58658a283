/** The browsers that get notifications by Web Push, and our key pair, on a database. */
import type { Kysely } from "kysely";
import type { PushKeys } from "../../process/web-push.ts";
import type { Schema } from "../schema.ts";
import { lock } from "../sql/lock.ts";
import type { PushRecords, StoredSubscription } from "./records.ts";

const OWN = "own";
const MOST = 50;

type Run = <T>(work: (kysely: Kysely<Schema>) => Promise<T>) => Promise<T>;

export function kyselyPush({ read, write }: { read: Run; write: Run }): PushRecords {
  return {
    async keys(made) {
      return (await read(readKeys)) ?? write((kysely) => putKeys(kysely, made));
    },
    subscriptions: (now) => read((kysely) => readSubscriptions(kysely, now)),
    subscribe: (subscription, now) => write((kysely) => putSubscription(kysely, subscription, now)),
    unsubscribe: (endpoint) => write((kysely) => removeSubscription(kysely, endpoint)),
  };
}

async function readKeys(kysely: Kysely<Schema>): Promise<PushKeys | null> {
  const row = await kysely.selectFrom("push_keys").selectAll().where("name", "=", OWN).executeTakeFirst();
  return row === undefined ? null : { publicKey: row.public_key, privateKey: row.private_key };
}

/** The first ones stay: browsers know them. */
async function putKeys(kysely: Kysely<Schema>, { publicKey, privateKey }: PushKeys): Promise<PushKeys> {
  await kysely
    .insertInto("push_keys")
    .values({ name: OWN, public_key: publicKey, private_key: privateKey })
    .onConflict((conflict) => conflict.column("name").doNothing())
    .execute();
  return (await readKeys(kysely)) ?? { publicKey, privateKey };
}

/** The names of tokens that do not work any more: a name is never given twice. */
function endedTokens(kysely: Kysely<Schema>, now: number) {
  return kysely
    .selectFrom("access_tokens")
    .select("name")
    .where((where) => where.or([where("revoked_at", "is not", null), where("expires_at", "<=", now)]));
}

async function readSubscriptions(kysely: Kysely<Schema>, now: number): Promise<StoredSubscription[]> {
  const rows = kysely
    .selectFrom("push_subscriptions")
    .selectAll()
    .where("added_by", "not in", endedTokens(kysely, now))
    .orderBy("created_at")
    .orderBy("endpoint");
  const found = await rows.limit(MOST).execute();
  return found.map(({ endpoint, p256dh, auth, added_by: addedBy }) => ({ endpoint, p256dh, auth, addedBy }));
}

async function putSubscription(
  kysely: Kysely<Schema>,
  { endpoint, p256dh, auth, addedBy }: StoredSubscription,
  now: number,
): Promise<boolean> {
  await lock(kysely, "channel", "push subscriptions");
  await kysely.deleteFrom("push_subscriptions").where("added_by", "in", endedTokens(kysely, now)).execute();
  const known = await readSubscriptions(kysely, now);
  if (known.length >= MOST && !known.some((each) => each.endpoint === endpoint)) return false;
  const values = { p256dh, auth, added_by: addedBy };
  await kysely
    .insertInto("push_subscriptions")
    .values({ endpoint, ...values, created_at: now })
    .onConflict((conflict) => conflict.column("endpoint").doUpdateSet(values))
    .execute();
  return true;
}

async function removeSubscription(kysely: Kysely<Schema>, endpoint: string): Promise<boolean> {
  const gone = kysely.deleteFrom("push_subscriptions").where("endpoint", "=", endpoint);
  return (await gone.executeTakeFirst()).numDeletedRows > 0n;
}
