/**
 * The list with 100,000 tasks in a real Chromium: only visible rows exist on the page, and every row can be reached.
 */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NO_OTHERS } from "../../src/board/remote-operations.ts";
import { Desk } from "../../src/engine/desk.ts";
import { Overview } from "../../src/engine/watching/overview.ts";
import { type ApiServer, startApiServer } from "../../src/http/server.ts";
import { sqliteStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/store.ts";
import { completed, create } from "../../src/testing/sample-task.ts";
import { chromiumBed } from "./page-bed.ts";

const MANY = 100_000;

const directory = mkdtempSync(join(tmpdir(), "asyncagents-page-"));
const chromium = chromiumBed();
let store: Store;
let server: ApiServer;
let url: string;

beforeAll(async () => {
  store = await sqliteStore({ directory });
  await create(store, "ses_newest", { description: "the newest" }, Date.now());
  await store.apply("ses_newest", completed(Date.now()));
  multiply(join(directory, "asyncagents.db"), "ses_newest");
  const desk = new Desk({ store, engines: () => [], isAlive: () => true });
  const log = { info() {}, error() {} };
  server = startApiServer({
    overview: new Overview(store),
    desk,
    remote: NO_OTHERS,
    directory,
    log,
    port: 0,
    origins: [],
  });
  ({ url } = server);
}, 60_000);
afterAll(async () => {
  await server?.stop();
  await store?.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Copies one ended task, each copy a second older than the one before; the totals follow. */
function multiply(file: string, id: string): void {
  const database = new Database(file);
  const columns = (table: string) =>
    database.query<{ name: string }, []>(`select name from pragma_table_info('${table}')`).all();
  const copy = (table: string, changed: Record<string, string>, where: string) => {
    const names = columns(table).map(({ name }) => `"${name}"`);
    const values = columns(table).map(({ name }) => changed[name] ?? `"${name}"`);
    database.run(
      `with recursive copies(n) as (select 1 union all select n + 1 from copies where n < ${MANY - 1})
       insert into ${table} (${names.join()}) select ${values.join()} from ${table}, copies where ${where}`,
    );
  };
  const name = "'ses_copy' || n";
  database.run("pragma busy_timeout = 10000");
  database.transaction(() => {
    copy("runs", { task_id: name }, `task_id = '${id}'`);
    const described = { description: "'copy ' || n", description_search: "'copy ' || n" };
    const times = { started_at: "started_at - n * 1000", created_seq: "1000000 - n" };
    copy("tasks", { id: name, session_id: name, ...described, ...times }, `id = '${id}'`);
    database.run("update agent_totals set completed = completed + ?", [MANY - 1]);
  })();
  database.close();
}

test("100,000 tasks are scrolled from the newest to the oldest with a few dozen rows on the page", async () => {
  const { page, problems } = await chromium.open(`${url}/`);
  const grid = page.getByRole("grid", { name: "Tasks" });
  await page.getByText("the newest").waitFor();
  expect(await grid.getAttribute("aria-rowcount")).toBe(String(MANY + 1));
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  for (const place of [0.25, 0.5, 0.999]) {
    await grid.evaluate((element, part) => {
      const area = [element, ...element.querySelectorAll("*")].find(
        (each) => each.scrollHeight > each.clientHeight + 10_000,
      );
      if (area) area.scrollTop = area.scrollHeight * part;
    }, place);
    const expected = `copy ${Math.floor((MANY * place) / 1000)}`;
    await page.locator("[role=row][data-task-id]").getByText(expected, { exact: false }).first().waitFor();
    expect(await page.locator("[role=row]").count()).toBeLessThan(80);
  }
  await page.keyboard.press("End");
  await page.getByText(`copy ${MANY - 1}`, { exact: true }).waitFor();
  expect(requests.length).toBeLessThan(40);
  expect(problems).toEqual([]);
}, 60_000);

test("a search among them finds the one", async () => {
  const { page, problems } = await chromium.open(`${url}/?search=copy 77777`);
  await page.getByText("copy 77777", { exact: true }).waitFor();
  expect(await page.getByRole("grid", { name: "Tasks" }).getAttribute("aria-rowcount")).toBe("2");
  expect(problems).toEqual([]);
});
