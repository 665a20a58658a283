import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cliWorld, makeRepo } from "./cli-bed.ts";

const world = cliWorld();
const repo = makeRepo(join(world.work, "the shop ü"));
const git = (...args: string[]) => execFileSync("git", args, { cwd: repo, encoding: "utf8" });
type Row = Record<string, unknown> & { id: string };

test("projects, items and attempts from the shell: created, started, continued, inspected, merged, removed", async () => {
  const { project_id } = await world.json<{ project_id: string }>("project", "add", "shop", "--repo", repo);
  expect((await world.json<{ projects: Row[] }>("project", "ls")).projects).toMatchObject([
    { id: project_id, name: "shop" },
  ]);
  expect((await world.cli("project", "repo", "ls", "shop")).out).toContain(repo);
  const { task_id } = await world.json<{ task_id: string }>(
    "item",
    "add",
    "Write it",
    "!write new file.txt\n!write b.txt yes",
    "-p",
    "shop",
  );
  const item = task_id.slice(0, 8);

  const attempt = await world.json<Row>("attempt", "start", item, "--host", "scripted", "--wait");
  expect(attempt).toMatchObject({ state: "completed", executor: "SCRIPTED", final_message: "Done." });
  const id = String(attempt.attempt_id).slice(0, 8);
  expect((await world.json<Row>("item", "show", item)).status).toBe("inreview");
  expect((await world.cli("attempt", "ls", item)).out).toContain(id);
  expect((await world.cli("attempt", "diff", id)).out).toContain("+yes");
  expect((await world.cli("attempt", "diff", id, "--stat")).out).toContain("2 files");

  expect(await world.cli("attempt", "follow", id, "More\n!write c.txt see", "--wait")).toMatchObject({
    code: 0,
    out: "Done.\n",
  });
  expect((await world.cli("attempt", "logs", id)).out).toContain("!write c.txt see");
  writeFileSync(join(repo, ".git/hooks/pre-commit"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  const merged = await world.cli("attempt", "merge", id, "-m", "Take it");
  expect(merged).toMatchObject({ code: 0, out: expect.stringContaining("main is now at") });
  expect(merged.err).toContain("were not run (pre-commit)");
  expect(git("log", "--format=%s", "-1").trim()).toBe("Take it");
  expect(existsSync(join(repo, "b.txt"))).toBe(true);
  expect((await world.json<Row>("item", "show", item)).status).toBe("done");

  expect(await world.cli("project", "rm", "shop")).toMatchObject({ code: 1 });
  expect((await world.cli("item", "rm", item)).code).toBe(0);
  expect(await world.cli("item", "show", item)).toMatchObject({ code: 3 });
  expect((await world.cli("project", "rm", "shop")).code).toBe(0);
});

test("a project whose repository cannot be added is not created", async () => {
  const refused = await world.cli("project", "add", "half", "--repo", repo, "--repo", world.work);
  expect(refused.code).not.toBe(0);
  const { projects } = await world.json<{ projects: { name: string }[] }>("project", "ls");
  expect(projects.map(({ name }) => name)).not.toContain("half");
});

test("two repositories are named in diff, stat and merge, and can be changed and removed", async () => {
  const [web, api] = [makeRepo(join(world.work, "web")), makeRepo(join(world.work, "api"))];
  await world.json("project", "add", "two", "--repo", web, "--repo", api);
  const text = "!write web/a.txt one\n!write api/deep/down/c.txt two\n!write api/readme.txt";
  const { task_id } = await world.json<{ task_id: string }>("item", "add", "Both", text, "-p", "two");
  const { attempt_id } = await world.json<Row>("attempt", "start", task_id, "--host", "scripted", "--wait");
  const id = String(attempt_id);
  const diff = (await world.cli("attempt", "diff", id)).out;
  expect(diff).toMatch(/^▌ (web|api)$/m);
  const stat = (await world.cli("attempt", "diff", id, "--stat")).out;
  for (const line of [
    /^▌ web$/m,
    /^▌ api$/m,
    /^deep\/down\/c\.txt +1 {2}\+$/m,
    /^readme\.txt +2 {2}\+-$/m,
    /^2 files, \+2 -1$/m,
  ])
    expect(stat).toMatch(line);
  const listed = await world.cli("attempt", "ls");
  expect(listed.out).toMatch(new RegExp(`^${id.slice(0, 8)}  completed .*Both`, "m"));
  expect((await world.cli("attempt", "ls", "-p", "two", "-q")).out).toBe(`${id}\n`);
  const merged = await world.cli("attempt", "merge", id);
  for (const name of ["web", "api"]) expect(merged.out).toMatch(new RegExp(`^${name}: main is now at `, "m"));
  const repos = ["project", "repo"];
  expect((await world.cli(...repos, "rm", "two", "web")).err).toContain("`asyncagents attempt rm`");
  await world.json("item", "rm", task_id);
  expect((await world.cli(...repos, "rm", "two", "web")).code).toBe(0);
  await world.json(...repos, "set", "two", "api", "--setup", "npm ci", "--copy", ".env", "--name", "server");
  expect((await world.cli(...repos, "ls", "two")).out).toMatch(/server +main +\.env +npm ci +/);
  expect(await world.json<Row>(...repos, "set", "two", "server", "--no-setup", "--no-copy")).toMatchObject({
    copy: [],
    setup: null,
  });
  expect((await world.cli(...repos, "set", "two", "server")).code).toBe(2);
});

test("prompts are queued while an attempt runs, and removed again; stop and rm end it", async () => {
  await world.json("project", "add", "queue", "--repo", repo);
  const { task_id } = await world.json<{ task_id: string }>("item", "add", "Stay", "!wait never", "-p", "queue");
  const { attempt_id } = await world.json<{ attempt_id: string }>(
    "attempt",
    "start",
    task_id,
    "--host",
    "scripted",
    "--branch",
    "main",
  );
  expect((await world.cli("attempt", "follow", attempt_id, "now")).code).toBe(1);
  expect(await world.json<Row>("attempt", "queue", attempt_id, "later")).toMatchObject({
    status: "queued",
    queued_count: 1,
  });
  const queued = await world.cli("attempt", "queued", attempt_id);
  expect(queued.out).toMatch(/^1\. .*\n {2}later\n$/);
  expect(await world.json<Row>("attempt", "cancel-queue", attempt_id)).toMatchObject({
    status: "empty",
    queued_count: 0,
  });
  expect((await world.cli("item", "rm", task_id)).code).toBe(1);
  expect(await world.json<Row>("attempt", "stop", attempt_id)).toMatchObject({ state: "stopped" });
  expect((await world.cli("item", "ls", "-p", "queue")).out).toContain(`${attempt_id.slice(0, 8)} stopped`);
  expect((await world.json<Row>("item", "set", task_id, "--status", "cancelled", "--title", "Gone")).title).toBe(
    "Gone",
  );
  expect((await world.cli("attempt", "rm", attempt_id)).code).toBe(0);
  expect((await world.cli("attempt", "start", task_id, "--branch", "nowhere", "--host", "scripted")).code).toBe(3);
  expect((await world.cli("item", "set", task_id)).code).toBe(2);
  expect((await world.cli("item", "set", task_id, "--status", "lost")).code).toBe(2);
});

test("run --worktree finds or creates the project, and works beside the checkout", async () => {
  const other = makeRepo(join(world.work, "queue"));
  const words = ["run", "--host", "scripted", "--worktree", "--dir", other, "--wait", "Write one\n!write one.txt"];
  const first = await world.json<Row>(...words);
  const second = await world.json<Row>(...words);
  expect([first.state, second.state]).toEqual(["completed", "completed"]);
  expect(existsSync(join(other, "one.txt"))).toBe(false);
  const { projects } = await world.json<{ projects: { name: string }[] }>("project", "ls");
  // Its folder name is already another project's name.
  expect(projects.filter(({ name }) => name.startsWith("queue-"))).toHaveLength(1);
  const here = await world.start(["item", "ls", "--json"], { cwd: other }).ended;
  expect(JSON.parse(here.out).items.map(({ title }: { title: string }) => title)).toEqual(["Write one", "Write one"]);
  expect((await world.cli("run", "--host", "scripted", "--worktree", "no repository here")).code).toBe(2);
});

test("run --worktree sends the prompt as typed, and so does a later attempt at its item", async () => {
  const other = makeRepo(join(world.work, "typed"));
  const typed = `First  line ${"that is long ".repeat(30)}\n\n\n  second   line\n`;
  const sent = async (attempt: string) => {
    // The prompt is sent shortly after the launch.
    await world.cli("attempt", "wait", attempt);
    const { messages } = await world.json<{ messages: { parts: { text: string }[] }[] }>("attempt", "logs", attempt);
    return messages[0]?.parts[0]?.text;
  };
  for (const name of [[], ["--name", "Another name"]]) {
    const words = ["run", "--host", "scripted", "--worktree", "--dir", other, ...name, "--json", "-"];
    const said = await world.start(words, { stdin: typed }).ended;
    const { item_id, attempt_id } = JSON.parse(said.out);
    expect(await sent(attempt_id)).toBe(typed);
    if (name.length > 0) continue;
    const again = await world.json<{ attempt_id: string }>("attempt", "start", item_id, "--host", "scripted");
    expect(await sent(again.attempt_id)).toBe(typed);
  }
  const short = await world.json<{ attempt_id: string }>("run", "--host", "scripted", "-w", "-C", other, "Only this");
  expect(await sent(short.attempt_id)).toBe("Only this");
});

test("an attempt that asks is answered by its own id; several attempts and items are removed at once", async () => {
  await world.json("project", "add", "asks", "--repo", repo);
  const items = await Promise.all(
    ["!permit May I?\n!say thanks", "!say fine"].map((text, at) =>
      world.json<{ task_id: string }>("item", "add", `Item ${at}`, text, "-p", "asks"),
    ),
  );
  const start = (item: string) => world.json<{ attempt_id: string }>("attempt", "start", item, "--host", "scripted");
  const [asking, fine] = await Promise.all(items.map(({ task_id }) => start(task_id)));
  const id = asking?.attempt_id.slice(0, 8) ?? "";
  const waiting = world.start(["attempt", "wait", id]);
  await waiting.said("May I?");
  expect(await world.cli("attempt", "answer", id, "--once")).toMatchObject({
    code: 0,
    out: "Allowed this time: May I?\n",
  });
  expect(await waiting.ended).toMatchObject({ code: 0, out: "thanks\n" });
  expect((await world.cli("attempt", "answer", id, "--once")).code).toBe(1);
  const removed = await world.cli("attempt", "rm", id, "none-such", fine?.attempt_id.slice(0, 8) ?? "");
  expect([removed.code, removed.out.match(/is removed/g)?.length]).toEqual([3, 2]);
  expect((await world.cli("item", "rm", ...items.map(({ task_id }) => task_id))).code).toBe(0);
});

test("the id of an attempt or an item, given to a command for tasks, leads to the right commands", async () => {
  const own = makeRepo(join(world.work, "ids"));
  await world.json("project", "add", "ids", "--repo", own);
  const { task_id } = await world.json<{ task_id: string }>("item", "add", "Read it", "-p", "ids");
  const words = ["attempt", "start", task_id, "--host", "scripted", "--wait"];
  const { attempt_id } = await world.json<{ attempt_id: string }>(...words);
  const id = attempt_id.slice(0, 8);
  for (const given of [attempt_id, id]) {
    const lost = await world.cli("logs", given);
    expect(lost).toMatchObject({ code: 3, out: "" });
    expect(lost.err).toContain(
      `"${given}" is an attempt, not a task. For attempts: asyncagents attempt show ${id} · logs`,
    );
  }
  const lost = await world.cli("wait", task_id);
  expect(lost.code).toBe(3);
  expect(lost.err).toContain(`is an item of the board, not a task. Its attempts: asyncagents attempt ls`);
  const nothing = "00000000-0000-4000-8000-000000000000";
  expect((await world.cli("logs", nothing)).err).toContain(`There is no task "${nothing}". See: asyncagents ls`);
  for (const command of [
    ["item", "show"],
    ["attempt", "start"],
    ["attempt", "ls"],
  ]) {
    const unknown = await world.cli(...command, nothing);
    expect([unknown.code, unknown.err]).toEqual([3, expect.stringContaining(`There is no item ${nothing}: `)]);
    expect(unknown.err).toContain("`asyncagents item ls` shows those of a project");
  }
  const unknown = await world.cli("attempt", "show", nothing);
  expect(unknown.err).toContain(`There is no attempt ${nothing}: \`asyncagents attempt ls\` shows those of an item.`);
});

test("a diff without changes says so on stderr, and people count runs from 1", async () => {
  const own = makeRepo(join(world.work, "unchanged"));
  await world.json("project", "add", "unchanged", "--repo", own);
  const { task_id } = await world.json<{ task_id: string }>("item", "add", "Look at it", "-p", "unchanged");
  const words = ["attempt", "start", task_id, "--host", "scripted", "--wait"];
  const { attempt_id } = await world.json<{ attempt_id: string }>(...words);
  expect(await world.cli("attempt", "diff", attempt_id)).toEqual({ code: 0, out: "", err: "No changes.\n" });
  expect(await world.json("attempt", "diff", attempt_id)).toMatchObject({ repos: [{ diff: "", files: 0 }] });
  expect((await world.cli("attempt", "show", attempt_id)).out).toMatch(/progress +run 1, 0 tool calls/);
  expect(await world.json("attempt", "show", attempt_id)).toMatchObject({ progress: expect.stringMatching(/^run 0,/) });
  const followed = await world.cli("attempt", "follow", attempt_id, "Look again");
  expect(followed.out).toContain("It is running (run 2).");
  await world.cli("attempt", "wait", attempt_id);
  expect((await world.cli("attempt", "show", attempt_id)).out).toMatch(/progress +run 2, /);
});

test("an attempt on a host that this version does not know shows that host, not another one", async () => {
  const own = makeRepo(join(world.work, "newer"));
  const words = ["run", "--host", "scripted", "--worktree", "--wait", "-C", own, "Look"];
  const { attempt_id, task_id } = await world.json<{ attempt_id: string; task_id: string }>(...words);
  // As a newer version would have stored it.
  const file = new Database(join(world.data, "asyncagents.db"));
  for (const [table, id] of [
    ["attempts", "id"],
    ["board_sessions", "attempt_id"],
  ])
    file.run(`update ${table} set host = 'from-the-future' where ${id} = ?`, [attempt_id]);
  file.close();
  expect(await world.json("attempt", "show", attempt_id)).toMatchObject({ executor: "FROM_THE_FUTURE" });
  expect((await world.cli("attempt", "ls")).out).toMatch(new RegExp(`${attempt_id.slice(0, 8)}.*from_the_future`));
  expect(await world.json("item", "show", task_id)).toMatchObject({ latest_session_executor: "FROM_THE_FUTURE" });
});
