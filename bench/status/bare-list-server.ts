/**
 * Child process: the baseline for our list. One file of plain `Bun.serve` and a prepared bun:sqlite statement that
 * gives the same answer as `GET /v1/tasks`, without routes, checks, filters or layers; and a server that always sends
 * the same bytes.
 */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { answerCalls } from "../child-process.ts";

const LIMIT = 50;
const TEXT_CHARS = 8192;
const HEADERS = { "content-type": "application/json; charset=utf-8" };

const PAGE = `
  select t.id, t.session_id, t.host, t.directory, t.parent_session_id, t.parent_message_id, t.parent_agent, t.description,
    t.agent, t.model, t.batch_id, t.is_forked, t.status, t.phase, t.phase_detail, t.started_at, t.completed_at,
    t.result_retrieved_at, t.cleared_at, t.cancel_requested_at, t.owner, t.progress, r.number, r.message_id,
    r.started_at as run_started_at, r.ended_at, r.outcome, r.before, substr(r.prompt, 1, ${TEXT_CHARS + 1}) as prompt,
    substr(r.result, 1, ${TEXT_CHARS + 1}) as result, substr(r.error, 1, ${TEXT_CHARS + 1}) as error
  from tasks t join runs r on r.task_id = t.id and r.number = t.run
  order by t.started_at desc, t.created_seq desc limit ?`;
const TOTAL = "select sum(running + completed + error + cancelled + resumed) as total from agent_totals";

type Text = "id" | "session_id" | "host" | "directory" | "description" | "agent" | "batch_id" | "status" | "progress";
type Time = "completed_at" | "result_retrieved_at" | "cleared_at" | "cancel_requested_at" | "ended_at";
type MaybeText = "parent_session_id" | "parent_message_id" | "parent_agent" | "model" | "phase" | "phase_detail";
type Row = Record<Text | "prompt", string> &
  Record<Time, number | null> &
  Record<MaybeText | "result" | "error", string | null> &
  Record<"number" | "started_at" | "run_started_at" | "is_forked", number>;

const calls = {
  /** The list from a folder's store. */
  list({ directory }: { directory: string }): string {
    const database = new Database(join(directory, "asyncagents.db"), { readonly: true });
    const page = database.prepare<Row, [number]>(PAGE);
    const total = database.prepare<{ total: number }, []>(TOTAL);
    return serve(() => {
      const tasks = page.all(LIMIT).map(taskOf);
      const body = { tasks, total: total.get()?.total ?? 0, limit: LIMIT, offset: 0 };
      return new Response(JSON.stringify(body), { headers: HEADERS });
    });
  },
  /** The same text for every request. */
  constant({ text }: { text: string }): string {
    return serve(() => new Response(text, { headers: HEADERS }));
  },
};

export type BareListCalls = typeof calls;

function serve(answer: () => Response): string {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, development: false, fetch: answer });
  return `http://127.0.0.1:${server.port}`;
}

function taskOf(row: Row) {
  const shortened: string[] = [];
  const cut = (name: string, text: string) => {
    if (text.length <= TEXT_CHARS) return text;
    shortened.push(name);
    return text.slice(0, TEXT_CHARS);
  };
  const progress = JSON.parse(row.progress);
  progress.lastUpdate = iso(progress.lastUpdate);
  return {
    id: row.id,
    sessionID: row.session_id,
    parentSessionID: row.parent_session_id || null,
    parentMessageID: row.parent_message_id || null,
    parentAgent: row.parent_agent || null,
    description: row.description,
    prompt: cut("prompt", row.prompt),
    agent: row.agent,
    model: row.model,
    status: row.status,
    phase: row.phase,
    phaseDetail: row.phase_detail === null ? null : JSON.parse(row.phase_detail),
    startedAt: iso(row.started_at),
    completedAt: isoOrNull(row.completed_at),
    resultRetrievedAt: isoOrNull(row.result_retrieved_at),
    result: row.result === null ? null : cut("result", row.result),
    error: row.error === null ? null : cut("error", row.error),
    shortened,
    progress,
    batchId: row.batch_id,
    resumeCount: row.number,
    isForked: row.is_forked === 1,
    run: { number: row.number, startedAt: iso(row.run_started_at), endedAt: isoOrNull(row.ended_at) },
    host: row.host,
    directory: row.directory,
    clearedAt: isoOrNull(row.cleared_at),
    cancelRequestedAt: isoOrNull(row.cancel_requested_at),
  };
}

function iso(time: number): string {
  return new Date(time).toISOString();
}

function isoOrNull(time: number | null): string | null {
  return time === null ? null : iso(time);
}

answerCalls(calls);
