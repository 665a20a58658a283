/**
 * The order of the feed. Writes commit in any order, so an event gets its place from whoever holds the row of
 * `feed_end`: that one sees all events that are committed by then, and gives places to those that have none, in the
 * order of `seq`. A place is therefore never below one that somebody has read, and waits for no other transaction.
 * Events of one task are in order, because `seq` is given under the task's lock.
 * A write does this itself, together with its commit, if nobody else is doing it at that moment; otherwise it is done
 * after the commit.
 */
import type { ClientBase, Pool, PoolClient, QueryResult } from "pg";

/** How many events get their place at once. */
const BATCH = 1_000;

export class FeedOrder {
  readonly #pool: Pool;
  readonly #channel: string;
  readonly #texts: { lock: string; place: string; placeIfFree: string };

  /** `quoted`: the schema, quoted. */
  constructor(pool: Pool, quoted: string, channel: string) {
    this.#pool = pool;
    this.#channel = channel;
    const place = (end: string) => `with last as (${end}), found as (
        select seq from ${quoted}.events where place is null and exists (select 1 from last)
        order by seq limit ${BATCH} for update skip locked
      ), numbered as (
        select seq, row_number() over (order by seq) as number from found
      ), placed as (
        update ${quoted}.events set place = last.place + numbered.number
        from numbered, last where events.seq = numbered.seq
        returning 1
      )
      update ${quoted}.feed_end set place = place + (select count(*) from placed)
      where exists (select 1 from placed) returning (select count(*) from placed)::integer as count`;
    this.#texts = {
      lock: `select place from ${quoted}.feed_end for update`,
      // Locked events are progress that a write is replacing. If that write fails, they get a later place: they change
      // nothing that the events in between depend on.
      place: place(`select place from ${quoted}.feed_end`),
      placeIfFree: `${place(`select place from ${quoted}.feed_end for update skip locked`)},
        case when $1 = '' then null else pg_notify($1, '') end`,
    };
  }

  /** Until every event that is committed now has its place. */
  async catchUp(): Promise<void> {
    await this.#place([]);
  }

  /** The same, and wakes the listeners of all processes. */
  async announce(): Promise<void> {
    await this.#place([{ name: "asyncagents_notify", text: "select pg_notify($1, '')", values: [this.#channel] }]);
  }

  /**
   * For a transaction that is about to commit: places what has none, its own events included, unless somebody else is
   * doing that. With `notifies`, the listeners are woken by the commit. Resolves to whether nothing is left to do.
   */
  async placeBeforeCommit(client: ClientBase, notifies: boolean): Promise<boolean> {
    const query = prepared("place_if_free", this.#texts.placeIfFree);
    const { rows }: QueryResult = await client.query({ ...query, values: [notifies ? this.#channel : ""] });
    const count = rows[0]?.count ?? 0;
    return count > 0 && count < BATCH;
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
