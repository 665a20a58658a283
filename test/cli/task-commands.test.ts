import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { taskListSchema, taskSchema } from "../../src/protocol/tasks.ts";
import { cliWorld, MAIN } from "./cli-bed.ts";

interface Task {
  id: string;
  status: string;
  result: string | null;
}

const world = cliWorld();
const run = (...words: string[]) => world.json<Task>("run", "--host", "scripted", ...words);

describe("run", () => {
  test("prints the task's id and nothing else on stdout, and hints on stderr", async () => {
    const { code, out, err } = await world.cli("run", "--host", "scripted", "Count the files");
    expect(code).toBe(0);
    expect(out).toMatch(/^ses_\w+\n$/);
    expect(err).toContain("asyncagents logs -f");
    expect(await world.json("show", out.trim())).toMatchObject({
      description: "Count the files",
      directory: world.work,
    });
  });

  test("waits on request, prints the result, and exits with 1 if the task fails", async () => {
    const good = await world.cli("run", "--host", "scripted", "--wait", "Speak\n!say fine");
    expect(good).toMatchObject({ code: 0, out: "fine\n", err: expect.stringContaining('✓ "Speak" completed') });
    const bad = await world.cli("run", "--host", "scripted", "--wait", "Break\n!fail no luck");
    expect(bad).toMatchObject({ code: 1, out: "", err: expect.stringContaining("no luck") });
    const { id } = await run("Break\n!fail no luck again");
    expect(await world.cli("wait", id)).toMatchObject({
      code: 1,
      out: expect.stringMatching(/failed after .*\n {2}no luck/),
    });
    const late = await world.cli("run", "--host", "scripted", "--wait", "--timeout", "200ms", "Stay\n!wait never");
    expect(late).toMatchObject({
      code: 4,
      err: expect.stringContaining("still running. Wait again: asyncagents wait"),
    });
  });

  test("accepts a prompt that starts with dashes after --, and one from stdin for -", async () => {
    expect(await run("--wait", "--", "--help me")).toMatchObject({ result: "A scripted agent read: --help me" });
    const piped = await world.start(["run", "--host", "scripted", "--wait", "-"], { stdin: "From a pipe\n" }).ended;
    expect(piped.out).toBe("A scripted agent read: From a pipe\n");
    const refused = await world.cli("run", "--helpme");
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('goes after "--"') });
    expect((await world.start(["run", "-"], { stdin: "  \n" }).ended).code).toBe(2);
  });
});

test("times are of this machine's time zone, in show as in logs", async () => {
  const { id } = await run("--wait", "Speak\n!say fine");
  world.environment.TZ = "Asia/Kolkata";
  const [shown, logs] = [await world.cli("show", id), await world.cli("logs", id)];
  delete world.environment.TZ;
  const [, hour] = /started +\d{4}-\d\d-\d\d (\d\d:\d)\d:\d\d \+05:30 /.exec(shown.out) ?? [];
  expect(logs.out).toMatch(new RegExp(`▌ prompt ${hour}\\d:`));
});

describe("a task after others", () => {
  test("is shown with what it waits for, changed until it starts, and given the result", async () => {
    const first = await run("--name", "first", "Count\n!wait counted\n!say 42 files");
    const words = ["--host", "scripted", "--after", first.id, "--if-failed", "wait"];
    const { out, err } = await world.cli("run", "--name", "second", ...words, "Check");
    expect(err).toContain('"second" waits for other tasks.');
    const second = out.trim();
    expect(second).toMatch(/^tsk_\w+$/);
    const short = first.id.slice(-8);
    expect((await world.cli("ls")).out).toContain(`second (after ${short})`);
    expect((await world.cli("show", second)).out).toMatch(new RegExp(`after +${first.id} .if one fails: wait`));
    const cycle = await world.cli("edit", second, "--after", second);
    expect(cycle).toMatchObject({ code: 2, err: expect.stringContaining("would wait for each other for ever") });
    expect((await world.cli("edit", second)).code).toBe(2);
    expect((await world.cli("run", "--if-failed", "skip", "x")).code).toBe(2);
    const prompt = `Check\n!say checked {{result:${short}}}`;
    expect((await world.cli("edit", second, "--prompt", prompt, "--if-failed", "skip")).code).toBe(0);
    writeFileSync(join(world.work, "counted"), "");
    expect((await world.cli("wait", second)).code).toBe(0);
    expect((await world.json<Task>("show", second)).result).toContain("checked --- result of task");
    expect((await world.cli("edit", second, "--prompt", "late")).err).toContain("has ended (completed)");
  });
});

describe("a message to a task", () => {
  test("is cancelled by the beginning of its id, as long as it was not sent", async () => {
    const { id } = await run("--name", "paused", "Go\n!refuse 600 back later");
    const { id: message } = await world.json<{ id: string }>("steer", id, "--no-wait", "Leave the tests alone");
    const wrong = await world.cli("steered", id, "--cancel", "say_nothing");
    expect(wrong).toMatchObject({ code: 3, err: expect.stringContaining('no message "say_nothing"') });
    const { code, out } = await world.cli("steered", id, "--cancel", message.slice(0, 12));
    expect([code, out]).toEqual([0, expect.stringContaining(`${message}  cancelled by local user`)]);
    await world.cli("cancel", id);
  });
});

describe("one run", () => {
  test("has its own model and limits", async () => {
    const words = ["--wait", "--model", "test/one", "--max-minutes", "0.001", "--max-cost", "0.5", "Stay\n!wait never"];
    const said = await world.start(["run", "--host", "scripted", "--json", ...words]).ended;
    expect(said.code).toBe(1);
    expect(JSON.parse(said.out)).toMatchObject({
      model: "test/one",
      status: "error",
      error: expect.stringContaining("the run took longer than"),
    });
    expect((await world.cli("run", "--host", "scripted", "--model", "nameless", "x")).err).toContain("provider/model");
    expect((await world.cli("run", "--host", "scripted", "--max-cost", "0", "x")).code).toBe(2);
  });

  test("gets its prompt exactly as typed, byte for byte", async () => {
    const typed = "\ufeff  Begin  here\r\n\n\tthen  \n".concat("long ".repeat(2000), "\u202e\n\n");
    const piped = await world.start(["run", "--host", "scripted", "--json", "-"], { stdin: typed }).ended;
    const { id } = JSON.parse(piped.out);
    const argued = await run(typed);
    for (const task of [id, argued.id]) expect((await world.json<{ prompt: string }>("show", task)).prompt).toBe(typed);
    const bytes = 'printf \'caf\\351\' | "$0" "$1" run --host scripted -';
    const child = Bun.spawn(["bash", "-o", "pipefail", "-c", bytes, process.execPath, MAIN], {
      cwd: world.work,
      env: world.environment,
      stderr: "pipe",
    });
    expect(await new Response(child.stderr).text()).toContain("not UTF-8");
    expect(await child.exited).toBe(2);
  });
});

describe("ls and show", () => {
  test("print the API's own shapes as JSON", async () => {
    const { id } = await run("--name", "A name of its own", "Anything");
    expect(taskListSchema.pick({ tasks: true, total: true }).safeParse(await world.json("ls")).error).toBeUndefined();
    expect(taskSchema.safeParse(await world.json("show", id)).error).toBeUndefined();
    const found = await world.json<{ tasks: Task[] }>("ls", "--search", "name of its", "--limit", "5");
    expect(found.tasks.map((task) => task.id)).toEqual([id]);
    expect(
      (await world.json<{ tasks: Task[] }>("ls", "--all", "--status", "error")).tasks.every(
        ({ status }) => status === "error",
      ),
    ).toBe(true);
  });

  test("accept the beginning or the end of an id, and reject an ambiguous one", async () => {
    const { id } = await run("One");
    await run("Another");
    const others = (await world.json<{ tasks: Task[] }>("ls", "--all")).tasks.filter((task) => task.id !== id);
    const beginnings = Array.from(id, (_, length) => id.slice(0, length + 1));
    const unique = beginnings.find((beginning) => !others.some((task) => task.id.startsWith(beginning))) ?? "";
    expect(await world.json<Task>("show", unique)).toMatchObject({ id });
    expect(await world.json<Task>("show", id.slice(-8))).toMatchObject({ id });
    const several = await world.cli("show", "ses_", "--json");
    expect(several.code).toBe(2);
    expect(JSON.parse(several.err).error.code).toBe("task_ambiguous");
    const none = await world.cli("show", "nothing-like-it", "--json");
    expect(none).toMatchObject({ code: 3, out: "" });
    expect(JSON.parse(none.err).error.code).toBe("task_not_found");
  });

  test("accept any prefix of the id that ls shows, and name the candidates if it is ambiguous", async () => {
    const { id } = await run("Shown");
    const shown = /^(\S+) .*Shown$/m.exec((await world.cli("ls")).out)?.[1] ?? "";
    expect(id).toEndWith(shown);
    const others = (await world.json<{ tasks: Task[] }>("ls", "--all")).tasks.filter((task) => task.id !== id);
    const lengths = Array.from(shown, (_, length) => shown.slice(0, length + 1));
    const unique = lengths.find((text) => !others.some((task) => task.id.slice(-8).startsWith(text))) ?? "";
    expect(await world.json<Task>("show", unique)).toMatchObject({ id });
    const several = await world.cli("show", unique.slice(0, -1));
    expect(several).toMatchObject({ code: 2, err: expect.stringContaining(`${id} (Shown)`) });
  });

  test("live ones come first, even an old one that was resumed; then the newest", async () => {
    const { id: old } = await run("--wait", "Old\n!say old");
    const { id: newer } = await run("--wait", "Newer");
    await world.json("resume", old, "Again\n!wait never");
    const [first, ...rest] = (await world.json<{ tasks: Task[] }>("ls", "--limit", "100")).tasks;
    expect(first?.id).toBe(old);
    expect(rest.filter(({ status }) => status === "completed")[0]?.id).toBe(newer);
    await world.json("cancel", old);
  });

  test("are filtered and printed for scripts", async () => {
    const away = join(world.work, "away");
    mkdirSync(away);
    const { id } = await run("--dir", away, "--name", "Far away", "--wait", "x");
    const ids = async (...words: string[]) => (await world.cli("ls", "-q", ...words)).out;
    expect(await ids("--dir", away)).toBe(`${id}\n`);
    expect(await ids("--dir", away, "--since", "1h", "--host", "scripted")).toBe(`${id}\n`);
    expect(await ids("--dir", away, "--host", "opencode")).toBe("");
    expect(await ids("--dir", away, "--since", "2999-01-01")).toBe("");
    expect(await ids("--dir", away, "--until", "1h")).toBe("");
    expect(await ids("--dir", away, "--sort", "cost", "--reverse")).toBe(`${id}\n`);
    expect((await world.cli("ls", "--sort", "age")).err).toContain("--sort takes started, took, cost");
    expect((await world.cli("ls", "--sort", "cost", "--dir", away)).out).toMatch(/ COST .*\n.* \$\d+\.\d{4} /);
    expect((await world.cli("ls", "--reverse")).err).toContain("--reverse needs --sort");
    expect((await world.cli("ls", "--since", "1h", "--until", "2h")).err).toContain("--until is before --since");
    expect((await world.cli("ls", id, "--host", "opencode")).err).toContain("Name tasks, or choose them by options");
    expect((await world.cli("ls", "--host", "acp:codex", "--agent", "qwen")).err).toContain("name two agents");
    expect(await ids(id.slice(-8))).toBe(`${id}\n`);
    const { out } = await world.cli(
      "ps",
      "--dir",
      away,
      "--format",
      "{{.status}}\\t{description} {progress.toolCalls}",
    );
    expect(out).toBe("completed\tFar away 0\n");
    for (const words of [
      ["--since", "soon"],
      ["--since", "2026-02-30"],
      ["--format", "{nope}"],
      ["--host", "other"],
    ])
      expect((await world.cli("ls", ...words)).code).toBe(2);
  });

  test("print an aligned table with one line per task", async () => {
    const { out } = await world.cli("ls", "--limit", "3");
    const lines = out.trimEnd().split("\n");
    expect(lines).toHaveLength(4);
    const column = lines[0]?.indexOf("DESCRIPTION") ?? -1;
    for (const line of lines.slice(1)) expect(line[column - 1]).toBe(" ");
  });
});

describe("logs", () => {
  test("say that a task failed or was cancelled, and why, beside the conversation", async () => {
    const failed = await run("--", "Break\n!fail no luck\nat all");
    await world.cli("wait", failed.id);
    const said = await world.cli("logs", failed.id);
    expect(said).toMatchObject({ code: 0, out: expect.stringContaining("!fail no luck") });
    expect(said.err).toMatch(/✗ "Break" failed after .*\n {2}no luck\n$/);
    expect((await world.start(["logs", "-f", failed.id]).ended).err).toMatch(/failed after .*\n {2}no luck\n$/);
    expect(Object.keys(await world.json("logs", failed.id))).toEqual(["messages", "before"]);
    const stopped = await run("Stay\n!wait never");
    await world.cli("cancel", stopped.id);
    expect((await world.cli("show", stopped.id)).out).toMatch(/^because +cancelled by a person$/m);
    expect((await world.cli("logs", stopped.id)).err).toMatch(
      /− "Stay" cancelled after .*\n {2}cancelled by a person\n$/,
    );
    const good = await run("--wait", "Speak\n!say fine");
    expect((await world.cli("logs", good.id)).err).toBe("");
  });
});

describe("acting on a task", () => {
  test("wait returns when it has ended; Ctrl-C leaves it running and says so", async () => {
    const { id } = await run("Asks\n!permit May I?\n!wait door.txt\n!say through");
    const waiting = world.start(["wait", id]);
    await waiting.said("asks for a permission: May I?");
    waiting.process.kill("SIGINT");
    expect(await waiting.ended).toMatchObject({
      code: 130,
      err: expect.stringContaining("still running. Wait again: asyncagents wait"),
    });
    expect(await world.json("show", id)).toMatchObject({ status: "running" });
    const wrong = await world.cli("answer", id, "PostgreSQL");
    expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining("May I?") });
    const late = await world.cli("answer", id, "--once", "--request", "another");
    expect(late).toMatchObject({ code: 1, out: "", err: expect.stringContaining("May I?") });
    expect(await world.json("show", id)).toMatchObject({ phase: "waiting" });
    expect(await world.cli("answer", id, "--once")).toMatchObject({ code: 0, out: "Allowed this time: May I?\n" });
    const following = world.start(["logs", "-f", id]);
    const again = world.start(["wait", "--json", id, id]);
    writeFileSync(join(world.work, "door.txt"), "");
    const { code, out } = await again.ended;
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ ended: true, tasks: [{ id, status: "completed" }] });
    const followed = await following.ended;
    expect(followed).toMatchObject({
      code: 0,
      out: expect.stringContaining("through"),
      err: expect.stringContaining("✓"),
    });
    const second = await world.cli("answer", id, "--reject");
    expect(second).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringContaining("was already allowed once, from the command line"),
    });
  });

  test("one that no runner has begun is listed as queued, and a wait for it says why", async () => {
    const queued = await run("--queue", "--label", "gpu", "Queued");
    const running = await run("Stays\n!wait never");
    const listed = (await world.cli("ls", "-q", "--status", "queued")).out;
    expect(listed).toBe(`${queued.id}\n`);
    expect((await world.cli("ls", "-q", "--status", "queued", "--limit", "1", "--sort", "started")).out).toBe(listed);
    expect((await world.cli("ls", "-q", "--status", "queued,working")).out.split("\n")).toContain(running.id);
    expect((await world.cli("ls", "--status", "nope")).err).toContain("completed, error, cancelled, resumed, queued");
    const reason = "No runner is running. Start one: asyncagents runner --hosts scripted --label gpu";
    const one = await world.cli("wait", "--timeout", "300ms", queued.id);
    expect([one.code, one.err]).toEqual([4, expect.stringContaining(`${queued.id.slice(-8)} still waits: ${reason}`)]);
    expect(one.err).toContain(`"Queued" waits: ${reason}`);
    expect((await world.cli("show", queued.id)).out).toMatch(/^waited +\ds; it has not begun$/m);
    const two = await world.cli("wait", "--timeout", "300ms", queued.id, running.id);
    expect(two.err).toContain("2 tasks have not ended, 1 of them queued.");
    const launched = world.start(["run", "--queue", "--host", "scripted", "--label", "gpu", "--wait", "Another"]);
    await launched.said(`"Another" waits: ${reason}`);
    launched.process.kill("SIGINT");
    expect((await launched.ended).code).toBe(130);
  });

  test("a wait that ends in the middle of a call says that time ran out, whatever it was doing", async () => {
    const { id } = await run("Stay\n!wait never");
    for (const timeout of ["1ms", "2ms", "4ms", "6ms", "8ms", "12ms"]) {
      const late = await world.cli("wait", "--timeout", timeout, id);
      expect(late).toMatchObject({ code: 4, err: expect.stringContaining("Timed out.") });
    }
  });

  test("questions are answered with words", async () => {
    const { id } = await run("Asks\n!ask Which one?\n!say good");
    const waiting = world.start(["wait", id]);
    await waiting.said("asks for an answer: Which one?");
    expect((await world.cli("answer", id, "--always")).code).toBe(2);
    const declined = await world.cli("answer", id, "--reject", "Neither");
    expect(declined).toMatchObject({ code: 2, err: expect.stringContaining("not told why its question was declined") });
    const logs = await world.cli("logs", id);
    expect(logs.err).toContain(`asks for an answer: Which one?\n  asyncagents answer`);
    const command = /asyncagents answer (.*) "your answer"/.exec(waiting.text())?.[1] ?? "";
    expect(command).toContain("--request");
    expect(await world.cli("answer", id, "The", "second")).toMatchObject({
      code: 2,
      err: expect.stringContaining(
        "Give one answer, not 2; on a command line, put each in quotes. Nothing was answered.",
      ),
    });
    expect(await world.cli("answer", ...command.split(" "), "The second")).toMatchObject({
      code: 0,
      out: 'Answered "The second": Which one?\n',
    });
    expect((await waiting.ended).code).toBe(0);
  });

  test("cancel ends it; a wait for it exits with 1", async () => {
    const { id } = await run("Stay\n!wait never");
    expect(await world.cli("fork", id, "Go on")).toMatchObject({
      code: 1,
      err: expect.stringContaining("still running"),
    });
    const waiting = world.start(["wait", id]);
    const { tasks } = await world.json<{ tasks: Task[] }>("cancel", id);
    expect(tasks[0]?.id).toBe(id);
    expect(await waiting.ended).toMatchObject({ code: 1, out: expect.stringContaining("cancelled") });
    expect((await world.cli("cancel", id)).code).toBe(1);
  });

  test("several are each processed and reported, even after one that fails", async () => {
    const { id: over } = await run("--wait", "Over");
    const live = await Promise.all([run("Stay\n!wait never"), run("Stay too\n!wait never")]);
    const ids = [over, live[0].id, "nothing-like-it", live[1].id, live[1].id];
    const { code, out, err } = await world.cli("cancel", ...ids);
    expect([code, out.match(/cancelled/g)?.length, err.trim().split("\n").length]).toEqual([1, 2, 2]);
    expect(err).toContain("has already ended");
    expect(err).toContain("nothing-like-it");
    const again = await world.start(["wait", "--json", "nothing-like-it", over]).ended;
    expect(again.code).toBe(3);
    expect(JSON.parse(again.out)).toMatchObject({
      tasks: [{ id: over }],
      ended: true,
      errors: [{ given: "nothing-like-it", code: "task_not_found" }],
    });
  });

  test("resume continues the same task, fork starts a new one that knows the history", async () => {
    const first = await run("--wait", "Begin\n!say begun");
    const resumed = await world.json<Task & { resumeCount: number }>("resume", first.id, "More\n!say more", "--wait");
    expect(resumed).toMatchObject({ id: first.id, result: "more", resumeCount: 1 });
    const forked = await world.json<Task>("fork", first.id, "Elsewhere\n!say elsewhere", "--wait");
    expect(forked).toMatchObject({
      result: "elsewhere",
      isForked: true,
      parentSessionID: null,
      description: "Elsewhere",
    });
    expect(forked.id).not.toBe(first.id);
    const { out } = await world.cli("logs", forked.id);
    for (const text of ["Begin", "begun", "more", "elsewhere"]) expect(out).toContain(text);
    const { messages } = await world.json<{ messages: { role: string }[] }>("logs", first.id);
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
  });
});

describe("tell", () => {
  test("says when there is nobody to tell", async () => {
    const { id } = await run("--wait", "Speak\n!say fine");
    const { code, err } = await world.cli("tell", id);
    expect([code, err]).toEqual([1, expect.stringContaining("there is no session to tell")]);
  });
});
