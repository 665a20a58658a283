/**
 * The order of the feed. Writes commit in any order, so an event gets its place after its commit: whoever holds the row
 * of `feed_end` sees the events that are committed by then, and gives places to those that have none, in the order of
 * `seq`. A place is therefore never below one that somebody has read, and waits for no other transaction. Events of one
 * task are in order, because `seq` is given under the task's lock.
 */
import type { Pool, PoolClient } from "pg";

/** How many events get their place at once. */
const BATCH = 1_000;

export class FeedOrder {
  readonly #pool: Pool;
  readonly #channel: string;
  readonly #texts: { isBehind: string; lock: string; place: string };

  /** `quoted`: the schema, quoted. */
  constructor(pool: Pool, quoted: string, channel: string) {
    this.#pool = pool;
    this.#channel = channel;
    this.#texts = {
      isBehind: `select 1 from ${quoted}.events where place is null limit 1`,
      lock: `select place from ${quoted}.feed_end for update`,
      // Locked ones are progress that a write is replacing. If that write fails, they get a later place: they change
      // nothing that the events in between depend on.
      place: `with found as (
          select seq from ${quoted}.events where place is null order by seq limit ${BATCH} for update skip locked
        ), numbered as (
          select seq, row_number() over (order by seq) as number from found
        ), placed as (
          update ${quoted}.events set place = feed_end.place + numbered.number
          from numbered, ${quoted}.feed_end where events.seq = numbered.seq
          returning 1
        )
        update ${quoted}.feed_end set place = place + (select count(*) from placed)
        where exists (select 1 from placed) returning (select count(*) from placed)::integer as count`,
    };
  }

  /** Until every event that is committed now has its place. */
  async catchUp(): Promise<void> {
    const { rows } = await this.#pool.query(prepared("is_behind", this.#texts.isBehind));
    if (rows.length > 0) await this.#place([]);
  }

  /** The same, and wakes the listeners of all processes. */
  async announce(): Promise<void> {
    await this.#place([{ name: "asyncagents_notify", text: "select pg_notify($1, '')", values: [this.#channel] }]);
  }

  async #place(last: readonly { name: string; text: string; values: string[] }[]): Promise<void> {
    const client = await this.#pool.connect();
    try {
      for (let count = BATCH; count === BATCH; ) count = await this.#placeBatch(client, last);
      client.release();
    } catch (thrown) {
      // Its transaction may be open.
      client.release(true);
      throw thrown;
    }
  }

  /** One transaction in one round trip. Returns how many got their place. */
  async #placeBatch(
    client: PoolClient,
    last: readonly { name: string; text: string; values: string[] }[],
  ): Promise<number> {
    const [, , placed] = await Promise.all([
      client.query("begin"),
      client.query(prepared("lock_feed", this.#texts.lock)),
      client.query(prepared("place", this.#texts.place)),
      ...last.map((query) => client.query(query)),
      client.query("commit"),
    ]);
    return Number(placed?.rows[0]?.count ?? 0);
  }
}

function prepared(name: string, text: string): { name: string; text: string } {
  return { name: `asyncagents_${name}`, text };
}
