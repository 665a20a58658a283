/**
 * What the store is compared with: the same statements of a progress event on the same tables, one after the other,
 * under one lock that all writes share, with NOTIFY in each transaction. This is how the store itself wrote before.
 */
import pg from "pg";

export interface LockedWriter {
  /** Writes progress of a task that exists. */
  progress(taskId: string, progress: string, event: string): Promise<void>;
  close(): Promise<void>;
}

export function lockedWriter(connectionString: string, schema: string): LockedWriter {
  const pool = new pg.Pool({ connectionString, max: 1 });
  pool.on("error", () => {});
  return {
    async progress(taskId, progress, event) {
      const client = await pool.connect();
      const run = (text: string, values: unknown[] = []) => client.query(text, values);
      try {
        await run("begin");
        await run("select pg_advisory_xact_lock(hashtextextended($1, 0))", [schema]);
        await run(`select value from ${schema}.meta where key = $1`, ["schema_version"]);
        const newest = "runs.task_id = tasks.id and runs.number = tasks.run";
        await run(`select * from ${schema}.tasks join ${schema}.runs on ${newest} where tasks.id = $1`, [taskId]);
        const { rows } = await run(
          `insert into ${schema}.events (task_id, type, event) values ($1, 'run.progressed', $2) returning seq`,
          [taskId, event],
        );
        await run(
          `delete from ${schema}.events where task_id = $1 and seq < $2 and type = 'run.progressed' and seq >
            (select coalesce(max(seq), 0) from ${schema}.events where task_id = $1 and type = 'task.resumed')`,
          [taskId, rows[0].seq],
        );
        await run(`update ${schema}.tasks set progress = $2 where id = $1`, [taskId, progress]);
        await run(
          `update ${schema}.agent_totals set tool_calls = tool_calls + 1
            where agent = (select agent from ${schema}.tasks where id = $1)`,
          [taskId],
        );
        await run("select pg_current_xact_id_if_assigned(), pg_notify('asyncagents_bench', '')");
        await run("commit");
        client.release();
      } catch (thrown) {
        client.release(true);
        throw thrown;
      }
    },
    close: () => pool.end(),
  };
}
