/**
 * What happened, as the database saw it: triggers write down each registration, lease and end of an instance, each
 * event of a task and each claim of a queued run, with the time by the database's clock. Reads only at the end.
 */
import { Client } from "pg";

export interface SeenInstance {
  id: string;
  pid: number;
  machine: string;
  what: "INSERT" | "UPDATE" | "DELETE";
  /** Null once it has ended. */
  leaseUntil: number | null;
  at: number;
}

export interface SeenEvent {
  taskId: string;
  type: string;
  event: { owner?: string | null; sessionId?: string; messageId?: string; error?: string; task?: SeenTask };
  at: number;
}

interface SeenTask {
  owner: string | null;
  sessionId: string;
  messageId: string;
}

/** A claimed run that was given back before it began. */
export interface SeenRelease {
  taskId: string;
  claimedBy: string;
  at: number;
}

export interface Seen {
  instances: SeenInstance[];
  events: SeenEvent[];
  releases: SeenRelease[];
}

const NOW = "(extract(epoch from clock_timestamp()) * 1000)::bigint";
const SCHEMA = `
  create schema witness;
  create table witness.instances (seq bigserial, id text, pid integer, machine text, what text, lease_until bigint, at bigint);
  create table witness.events (seq bigserial, task_id text, type text, event text, at bigint);
  create table witness.releases (seq bigserial, task_id text, claimed_by text, at bigint);
  create function witness.see_instance() returns trigger language plpgsql as $$ begin
    insert into witness.instances (id, pid, machine, what, lease_until, at)
      values (coalesce(new.id, old.id), coalesce(new.pid, old.pid), coalesce(new.machine, old.machine), tg_op, new.lease_until, ${NOW});
    return null;
  end $$;
  create trigger witness after insert or update or delete on asyncagents.instances
    for each row execute function witness.see_instance();
  create function witness.see_event() returns trigger language plpgsql as $$ begin
    insert into witness.events (task_id, type, event, at) values (new.task_id, new.type, new.event, ${NOW});
    return null;
  end $$;
  create trigger witness after insert on asyncagents.events for each row
    when (new.type not in ('run.progressed', 'run.phased')) execute function witness.see_event();
  create function witness.see_release() returns trigger language plpgsql as $$ begin
    insert into witness.releases (task_id, claimed_by, at) values (new.task_id, old.claimed_by, ${NOW});
    return null;
  end $$;
  create trigger witness after update on asyncagents.queued_runs for each row
    when (old.state = 'claimed' and new.state = 'waiting') execute function witness.see_release();`;

async function connected<T>(connectionString: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString });
  await client.connect();
  return work(client).finally(() => client.end());
}

/** The tables of the store must exist. */
export async function watchDatabase(connectionString: string): Promise<() => Promise<Seen>> {
  await connected(connectionString, (client) => client.query(SCHEMA));
  return () =>
    connected(connectionString, async (client) => {
      const rows = async (table: string) => (await client.query(`select * from witness.${table} order by seq`)).rows;
      return {
        instances: (await rows("instances")).map(({ lease_until, at, ...row }) => {
          return { ...row, leaseUntil: lease_until === null ? null : Number(lease_until), at: Number(at) };
        }),
        events: (await rows("events")).map(({ task_id, type, event, at }) => {
          return { taskId: task_id, type, event: JSON.parse(event), at: Number(at) };
        }),
        releases: (await rows("releases")).map(({ task_id, claimed_by, at }) => {
          return { taskId: task_id, claimedBy: claimed_by, at: Number(at) };
        }),
      };
    });
}
