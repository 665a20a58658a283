import { describe, expect, onTestFinished, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { postgresStore } from "../../src/store/open.ts";
import { eventually } from "../../src/testing/eventually.ts";
import { startOpenAiModel } from "../../src/testing/models/openai-model.ts";
import { call, say, scriptMarker } from "../../src/testing/models/script.ts";
import { openCodeBinary } from "../../src/testing/opencode/binary.ts";
import { modelsFile, prepareHome } from "../../src/testing/opencode/home.ts";
import { type CliWorld, cliWorld, makeRepo, type Running } from "../cli/cli-bed.ts";
import { startPostgres } from "../store/postgres-server.ts";

const connectionString = await startPostgres();

/** Two machines: each has a data folder of its own, and both use one schema of a PostgreSQL. */
function machines(): [CliWorld, CliWorld] {
  const worlds: [CliWorld, CliWorld] = [cliWorld(), cliWorld()];
  for (const { environment } of worlds) environment.ASYNCAGENTS_STORE = connectionString;
  return worlds;
}

interface Shown {
  id: string;
  status: string;
  phase: string | null;
  directory: string;
  machine: string | null;
  clone: { hostname: string; remote: string; branch: string } | null;
  queue?: { machine: string | null; bound: string | null; remote: string | null; waitsFor: string | null };
  result: string | null;
}

function runner(world: CliWorld, ...options: string[]): Promise<Running> {
  return runnerOf("scripted", world, ...options);
}

async function runnerOf(host: string, world: CliWorld, ...options: string[]): Promise<Running> {
  const started = world.start(["runner", "--hosts", host, ...options]);
  onTestFinished(async () => {
    // It says that it ends: others would count on it until its lease is over.
    for (const signal of ["SIGTERM", "SIGINT"] as const) started.process.kill(signal);
    const timer = setTimeout(() => started.process.kill("SIGKILL"), 10_000);
    await started.process.exited;
    clearTimeout(timer);
  });
  await started.said("Ctrl-C ends it");
  return started;
}

const git = (cwd: string, ...args: string[]) => execFileSync("git", args, { cwd, encoding: "utf8" }).trim();

/** A repository in that world with a folder `web`, whose remote is a bare repository beside it. */
function published(world: CliWorld): { repo: string; remote: string } {
  const repo = makeRepo(join(world.work, "shop"));
  mkdirSync(join(repo, "web"));
  writeFileSync(join(repo, "web", "page.txt"), "page\n");
  git(repo, "add", ".");
  git(repo, "commit", "-q", "-m", "page");
  const remote = join(world.folder, "shop.git");
  git(world.folder, "clone", "-q", "--bare", repo, remote);
  git(repo, "remote", "add", "origin", remote);
  git(repo, "fetch", "-q", "origin");
  return { repo, remote };
}

const queue = (world: CliWorld, folder: string, prompt: string, ...options: string[]) =>
  world.json<Shown>("run", "--queue", "--host", "scripted", "--dir", folder, ...options, prompt);
const show = (world: CliWorld, id: string) => world.json<Shown>("show", id);

/** Resolves when the store shows that. */
async function until(check: () => Promise<boolean>): Promise<void> {
  const store = await postgresStore({ connectionString });
  await eventually(store, async () => ((await check()) ? true : null)).finally(() => store.close());
}

describe("a queued task on another machine", () => {
  test("runs in a clone of its repository, which stays and is shown; resumes go there, and say when it is gone", async () => {
    const [here, there] = machines();
    const { repo, remote } = published(here);
    const task = await queue(here, join(repo, "web"), "Writes\n!write new.txt hello\n!say done");
    expect(task).toMatchObject({ phase: "queued", queue: { machine: null, bound: null, remote } });
    expect(task.queue?.waitsFor).toContain("No runner is running");
    const away = await runner(there);
    expect((await here.cli("wait", task.id)).code).toBe(0);
    const done = await show(here, task.id);
    expect(done).toMatchObject({ status: "completed", result: "done", clone: { hostname: hostname(), remote } });
    expect(done.directory).toStartWith(join(there.data, "clones", "tasks"));
    expect(done.directory).toEndWith("/shop/web");
    expect(readFileSync(join(done.directory, "new.txt"), "utf8").trim()).toBe("hello");
    expect(git(done.directory, "branch", "--show-current")).toBe(done.clone?.branch ?? "");
    expect(existsSync(join(repo, "web", "new.txt"))).toBe(false);
    expect((await here.cli("show", task.id)).out).toContain(`branch ${done.clone?.branch}, of ${remote}`);
    expect(readFileSync(join(there.data, "asyncagents.log"), "utf8")).toContain(`fetched ${remote}`);
    // Asked on the one machine, done on the other, in the same folder.
    const again = await here.json<Shown>("resume", task.id, "--wait", "More\n!write more.txt x\n!say again");
    expect(again).toMatchObject({ result: "again", machine: done.machine, directory: done.directory });
    expect(existsSync(join(done.directory, "more.txt"))).toBe(true);
    away.process.kill("SIGTERM");
    expect((await away.ended).code).toBe(0);
    const refused = await here.cli("resume", task.id, "More");
    expect([refused.code === 0, refused.err]).toEqual([false, expect.stringContaining(`machine (${done.machine})`)]);
  }, 90_000);

  test("is bound to its machine if others cannot get the folder, and says why, and why it waits", async () => {
    const [here, there] = machines();
    const { repo } = published(here);
    writeFileSync(join(repo, "draft.txt"), "x");
    await runner(there, "--label", "eu");
    const said = await here.cli("run", "--queue", "--host", "scripted", "--dir", repo, "Draft\n!say draft");
    expect(said.err).toContain("its folder cannot be cloned: it has uncommitted changes (draft.txt)");
    const id = said.out.trim();
    const { queue: place } = await show(here, id);
    expect([place?.machine?.slice(0, 4), place?.remote]).toEqual(["mac_", null]);
    expect(place?.waitsFor).toContain(`Only a runner on the machine ${place?.machine} can do it`);
    expect((await here.cli("ls", id)).out).toContain("Only a runner");
    const labelled = await queue(there, there.work, "x\n!say x", "--label", "gpu");
    expect(labelled.queue).toMatchObject({ bound: "it is not in a usable git repository" });
    expect(labelled.queue?.waitsFor).toContain("has the label gpu");
    await runner(here);
    expect((await here.cli("wait", id)).code).toBe(0);
    expect(await show(here, id)).toMatchObject({ result: "draft", directory: repo, clone: null });
    expect((await here.cli("cancel", labelled.id)).code).toBe(0);
  }, 90_000);

  test("whose repository cannot be cloned goes back to the queue with the reason, until a machine can", async () => {
    const [here, there] = machines();
    const { repo, remote } = published(here);
    renameSync(remote, `${remote}.away`);
    await runner(there);
    const { id } = await queue(here, repo, "Works\n!say done");
    await until(async () => Boolean((await show(here, id)).queue?.waitsFor));
    const { queue: place } = await show(here, id);
    expect(place?.waitsFor).toContain("does not appear to be a git repository");
    expect((await here.cli("show", id)).out).toContain("git ls-remote");
    const listed = await here.cli("runners");
    expect(listed.out + listed.err).toContain(`lacks the repository ${remote}`);
    // The machine that has the folder needs no clone.
    await runner(here);
    expect((await here.cli("wait", id)).code).toBe(0);
    expect(await show(here, id)).toMatchObject({ result: "done", directory: repo, clone: null });
  }, 90_000);

  test("that is retried after its runner was killed gets a clone of its own, and the first one stays", async () => {
    const [here, there] = machines();
    const { repo } = published(here);
    const prompt = "Works\n!write begun.txt x\n!wait go.txt\n!say done";
    const { id } = await queue(here, repo, prompt, "--retry", "1");
    const first = await runner(there);
    const begun = async () => existsSync(join((await show(here, id)).directory, "begun.txt"));
    await until(begun);
    const before = await show(here, id);
    first.process.kill("SIGKILL");
    await first.process.exited;
    await runner(there);
    await until(async () => (await begun()) && (await show(here, id)).directory !== before.directory);
    const after = await show(here, id);
    expect(after.clone?.branch).not.toBe(before.clone?.branch);
    expect(existsSync(join(before.directory, "begun.txt"))).toBe(true);
    writeFileSync(join(after.directory, "go.txt"), "x");
    expect((await here.cli("wait", id)).code).toBe(0);
  }, 90_000);
});

test("the real OpenCode works in a clone on another machine, pushes its branch, and is resumed there", async () => {
  const [here, there] = machines();
  const { repo, remote } = published(here);
  const model = startOpenAiModel();
  onTestFinished(() => model.stop());
  for (const { home, environment } of [here, there]) {
    await prepareHome(home, { model });
    environment.ASYNCAGENTS_OPENCODE = openCodeBinary();
    environment.OPENCODE_MODELS_PATH = modelsFile(home);
  }
  const identity = "-c user.name=T -c user.email=t@localhost";
  const command = `echo better > page.txt && git ${identity} commit -qam better && git push -q origin HEAD`;
  model.script("first", [call("bash", { command, description: "change the page" }), say("pushed")]);
  model.script("second", [say("still here")]);
  const web = join(repo, "web");
  const queued = ["run", "--queue", "--host", "opencode", "--dir", web, `Improve the page\n${scriptMarker("first")}`];
  const task = await here.json<Shown>(...queued);
  expect(task.queue).toMatchObject({ remote, bound: null });
  await runnerOf("opencode", there);
  expect(await here.cli("wait", task.id)).toMatchObject({ code: 0 });
  const done = await show(here, task.id);
  expect(done).toMatchObject({ status: "completed", result: "pushed", clone: { hostname: hostname(), remote } });
  expect(done.directory).toStartWith(join(there.data, "clones", "tasks"));
  expect(git(remote, "show", `${done.clone?.branch}:web/page.txt`)).toBe("better");
  expect(readFileSync(join(web, "page.txt"), "utf8")).toBe("page\n");
  const again = await here.json<Shown>("resume", task.id, "--wait", `Are you there?\n${scriptMarker("second")}`);
  expect(again).toMatchObject({ id: task.id, result: "still here", machine: done.machine });
}, 120_000);

describe("asyncagents runners", () => {
  test("lists the runners of all machines with what they offer, and those that are gone", async () => {
    const [here, there] = machines();
    const killed = await runner(here, "--max", "3");
    const ended = await runner(there, "--label", "gpu", "--limit", "total=5", "--limit", "host:scripted=4");
    const held = await queue(there, there.work, "Held\n!write begun.txt x\n!wait go.txt\n!say held", "--label", "gpu");
    type Runners = { runners: Record<string, unknown>[] };
    const list = async () => (await here.json<Runners>("runners")).runners.filter(isOurs);
    const ids = [killed, ended].map((each) => /Runner (run_\w+)/.exec(each.text())?.[1]);
    const isOurs = ({ id }: Record<string, unknown>) => ids.includes(String(id));
    await until(async () => (await list()).some(({ load }) => load === 1));
    const common = { state: "running", hostname: hostname(), hosts: ["scripted"], lacks: [] };
    const limits = { total: 5, hosts: { scripted: 4 } };
    expect(await list()).toMatchObject([
      { ...common, id: ids[1], labels: ["gpu"], max: 4, load: 1, limits },
      { ...common, id: ids[0], labels: [], max: 3, load: 0, limits: {} },
    ]);
    const table = (await here.cli("runners")).out;
    expect(table).toMatch(/running +1\/4 .*scripted +gpu +total=5 host:scripted=4/);
    ended.process.kill("SIGTERM");
    await ended.said("Claims nothing more");
    await until(async () => (await list()).some(({ state }) => state === "draining"));
    writeFileSync(join(there.work, "go.txt"), "x");
    expect((await ended.ended).code).toBe(0);
    expect((await show(here, held.id)).result).toBe("held");
    killed.process.kill("SIGKILL");
    await killed.process.exited;
    expect(await list()).toMatchObject([
      { id: ids[1], state: "ended", load: 0 },
      { id: ids[0], state: "gone" },
    ]);
  }, 90_000);
});
