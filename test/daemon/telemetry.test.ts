import { afterAll, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CliWorld, cliWorld } from "../cli/cli-bed.ts";
import { root } from "../ground/repository.ts";
import { type Collector, type ReceivedSpan, startCollector } from "./collector.ts";

const ERROR = 2;

/** A world whose daemon reports to a collector of its own. */
function reportingWorld(): { world: CliWorld; collector: Collector } {
  const [world, collector] = [cliWorld(), startCollector()];
  afterAll(() => collector.stop());
  world.environment.ASYNCAGENTS_TELEMETRY = join(import.meta.dir, "telemetry-module.ts");
  world.environment.OTEL_EXPORTER_OTLP_ENDPOINT = collector.url;
  return { world, collector };
}

const isRunOf =
  (id: string, run = 0) =>
  (span: ReceivedSpan) =>
    span.attributes["asyncagents.task.id"] === id && span.attributes["asyncagents.run.number"] === run;

describe("a daemon with telemetry", () => {
  test("sends runs with their tool calls, links resumes, and sends the rest when it ends", async () => {
    const { world, collector } = reportingWorld();
    const run = (...words: string[]) => world.json<{ id: string }>("run", "--host", "scripted", ...words);
    const { id } = await run("--wait", "Works\n!write a.txt secret\n!write b.txt secret\n!say secret");
    await world.json("resume", id, "More\n!say more", "--wait");
    const failing = await run("Fails\n!fail secret reason");
    const [failed] = await collector.came(isRunOf(failing.id));
    const cancelled = await run("Waits\n!wait never.txt");
    await world.json("cancel", cancelled.id);
    const open = await run("Asks\n!write c.txt text\n!permit May I?");
    const waiting = world.start(["wait", open.id]);
    await waiting.said("asks for a permission");
    expect(await world.json("down", "--force")).toMatchObject({ stopped: true });

    const one = (taskId: string, number = 0) => {
      const found = collector.spans.filter(isRunOf(taskId, number));
      expect(found).toHaveLength(1);
      return found[0] as ReceivedSpan;
    };
    const [first, second] = [one(id), one(id, 1)];
    const below = ({ traceId, spanId }: ReceivedSpan) =>
      collector.spans.filter((span) => span.traceId === traceId && span.parentSpanId === spanId);
    expect(first).toMatchObject({
      name: expect.stringMatching(/^invoke_agent /),
      attributes: { "gen_ai.operation.name": "invoke_agent", "gen_ai.conversation.id": id },
    });
    expect(below(first).map(({ name }) => name)).toEqual(["execute_tool write", "execute_tool write"]);
    expect(second.links).toEqual([expect.objectContaining({ traceId: first.traceId, spanId: first.spanId })]);
    expect(failed?.status.code).toBe(ERROR);
    expect(one(cancelled.id).attributes).toMatchObject({ "asyncagents.run.outcome": "cancelled" });
    // What the end of the daemon interrupted is complete: it was read before the host was closed.
    const interrupted = one(open.id);
    expect(interrupted).toMatchObject({ status: { code: ERROR }, attributes: { "error.type": "interrupted" } });
    expect(below(interrupted).map(({ name }) => name)).toContain("execute_tool write");
    await waiting.ended;
    expect(JSON.stringify(collector.spans)).not.toMatch(/secret|asyncagents-cli-/);
    expect(Object.fromEntries(collector.sums)).toMatchObject({
      "asyncagents.tasks": 4,
      "asyncagents.runs": 5,
      "gen_ai.client.operation.duration": 5,
      "asyncagents.queue.duration": 5,
    });
  }, 60_000);

  test("reports a run of a daemon that was killed once, with what it had done", async () => {
    const { world, collector } = reportingWorld();
    const { pid } = await world.json<{ pid: number }>("up");
    const { id } = await world.json<{ id: string }>(
      "run",
      "--host",
      "scripted",
      "Asks\n!write a.txt x\n!permit May I?",
    );
    const waiting = world.start(["wait", id]);
    await waiting.said("asks for a permission");
    process.kill(pid, "SIGKILL");
    expect((await waiting.ended).code).toBe(1);
    await world.cli("up");
    const [span] = await collector.came(isRunOf(id));
    expect(await world.json("down")).toMatchObject({ stopped: true });
    expect(collector.spans.filter(isRunOf(id))).toEqual([span as ReceivedSpan]);
    expect(span).toMatchObject({ status: { code: ERROR }, attributes: { "error.type": "interrupted" } });
    const below = collector.spans.filter(({ parentSpanId }) => parentSpanId === span?.spanId);
    expect(below.map(({ name }) => name)).toContain("execute_tool write");
    // It began before the process that reports it.
    expect(Number(span?.startTimeUnixNano)).toBeLessThan(Number(span?.endTimeUnixNano));
    expect(Number(span?.endTimeUnixNano) / 1e6).toBeGreaterThan(Date.now() - 120_000);
    expect(collector.sums.get("asyncagents.runs")).toBe(1);
  }, 60_000);

  test("a package that is missing is not fetched, by the daemon or by a command", async () => {
    const world = cliWorld();
    const module = join(world.folder, "uninstalled.mjs");
    writeFileSync(module, 'import "asyncagents-no-such-package";\nexport default () => {};\n');
    world.environment.ASYNCAGENTS_TELEMETRY = module;
    const asked: string[] = [];
    const registry = Bun.serve({
      port: 0,
      fetch: ({ url }) => {
        asked.push(url);
        return new Response(null, { status: 404 });
      },
    });
    afterAll(() => registry.stop(true));
    world.environment.NPM_CONFIG_REGISTRY = String(registry.url);
    const { err } = await world.cli("up");
    expect(err).toMatch(/uninstalled\.mjs cannot be loaded: .*asyncagents-no-such-package.*installed beside it\?/s);
    const command = ["node", join(root, "bin", "asyncagents.mjs"), "doctor"];
    const doctor = Bun.spawn(command, { cwd: world.work, env: world.environment, stdout: "pipe", stderr: "ignore" });
    expect(await doctor.stdout.text()).toMatch(/telemetry .*asyncagents-no-such-package/);
    expect(asked).toEqual([]);
  }, 60_000);

  test("works without it if the module fails; up, doctor and the log say why", async () => {
    const world = cliWorld();
    const module = join(world.folder, "broken.mjs");
    writeFileSync(module, 'import "a-package-that-is-not-there";\nexport default () => {};\n');
    world.environment.ASYNCAGENTS_TELEMETRY = module;
    expect((await world.cli("run", "--host", "scripted", "--wait", "hello")).code).toBe(0);
    expect(readFileSync(join(world.data, "asyncagents.log"), "utf8")).toContain("telemetry did not start");
    const up = await world.cli("up");
    expect([up.code, up.err]).toEqual([0, expect.stringMatching(/a-package-that-is-not-there.*asyncagents restart/)]);
    expect((await world.cli("doctor")).out).toMatch(/telemetry .*a-package-that-is-not-there/);
    writeFileSync(module, "export default () => {};\n");
    expect((await world.cli("doctor")).out).toMatch(/telemetry .*a-package-that-is-not-there/);
    expect((await world.cli("restart")).err).toContain("registered no provider");
    expect((await world.cli("doctor")).out).toMatch(/telemetry .*registered no provider/);
    world.environment.ASYNCAGENTS_TELEMETRY = join(world.folder, "missing.mjs");
    const missing = (await world.cli("restart")).err;
    expect(missing).toMatch(/missing\.mjs is not a file: correct telemetry\.module/);
    expect(missing).not.toContain("setup-module");
    world.environment.ASYNCAGENTS_TELEMETRY = "relative.mjs";
    expect((await world.cli("config")).out).toContain("ASYNCAGENTS_TELEMETRY");
  }, 60_000);
});
