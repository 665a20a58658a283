/** The configuration file and the real command: what it shows, what it refuses, and what keeps working. */
import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findDaemon } from "../../src/daemon/find-daemon.ts";
import { type CliWorld, cliWorld } from "./cli-bed.ts";

const PATIENCE = 60_000;

interface Shown {
  file: string;
  exists: boolean;
  settings: { name: string; value: unknown; source: string; variable: string | null }[];
  problems: string[];
}

function configure(world: CliWorld, content: unknown): string {
  const file = join(world.data, "asyncagents.json");
  mkdirSync(world.data, { recursive: true, mode: 0o700 });
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content), { mode: 0o600 });
  return file;
}

test(
  "config shows what applies and where it comes from, without a password, and creates nothing",
  async () => {
    const world = cliWorld();
    world.environment.ASYNCAGENTS_MAX_MINUTES = "30";
    const none = await world.json<Shown>("config");
    expect([none.exists, none.problems, existsSync(world.data)]).toEqual([false, [], false]);
    const file = configure(world, { limits: { maxCost: 2 }, store: { address: "postgres://me:secret-word@db/x" } });
    const shown = await world.json<Shown>("config");
    expect(shown).toMatchObject({ file, exists: true });
    expect(shown.settings).toContainEqual({
      name: "limits.maxCost",
      value: 2,
      source: "file",
      variable: "ASYNCAGENTS_MAX_COST",
    });
    const { out } = await world.cli("config");
    expect(out).toMatch(/^limits\.maxCost +2 +file$/m);
    expect(out).toMatch(/^limits\.maxMinutes +30 +ASYNCAGENTS_MAX_MINUTES$/m);
    expect(out).toMatch(/^limits\.maxRepeats +50 +default$/m);
    expect(out).toMatch(/^store\.address +postgres:\/\/me@db\/x +file$/m);
    expect(out + JSON.stringify(shown)).not.toContain("secret-word");
    const schema = await world.cli("config", "--schema");
    expect(JSON.parse(schema.out).properties.limits.properties.maxCost.type).toBe("number");
  },
  PATIENCE,
);

describe("a wrong file", () => {
  test(
    "keeps commands and the daemon from starting, and what only looks says what is wrong",
    async () => {
      const world = cliWorld();
      const file = configure(world, { limits: { maxCosts: 5 } });
      const said = `${file}: limits.maxCosts is unknown. Did you mean limits.maxCost?`;
      for (const words of [["run", "x"], ["ls"], ["up"], ["up", "-f"], ["runner"], ["prune", "--keep", "1"], ["mcp"]]) {
        const { code, out, err } = await world.cli(...words);
        expect([words, code, out]).toEqual([words, 5, ""]);
        expect(err).toContain(said);
      }
      expect(findDaemon(world.data)).toBeNull();
      const shown = await world.cli("config");
      expect([shown.code, shown.out]).toEqual([5, expect.stringContaining(`✗ ${said}`)]);
      const doctor = await world.cli("doctor");
      expect([doctor.code, doctor.out]).toEqual([1, expect.stringContaining(said)]);
      for (const words of [["help"], ["version"], ["down"]]) expect((await world.cli(...words)).code).toBe(0);
      const { error } = JSON.parse((await world.cli("--json", "ls")).err);
      expect(error).toMatchObject({ code: "configuration_invalid", details: { problems: [said] } });
    },
    PATIENCE,
  );

  test(
    "does not disturb a daemon that runs: tasks can be cancelled, and a restart is refused before it stops",
    async () => {
      const world = cliWorld();
      configure(world, { limits: { maxConcurrent: 1 } });
      const { id } = await world.json<{ id: string }>("run", "--host", "scripted", "Holds\n!wait never.txt");
      const second = await world.json<{ id: string }>("run", "--host", "scripted", "Waits\n!say x");
      expect(await world.json("show", second.id)).toMatchObject({ phase: "queued" });
      configure(world, "{ limits }");
      const cancelled = await world.cli("cancel", id);
      expect([cancelled.code, cancelled.err]).toEqual([0, expect.stringContaining("line 1 is not valid JSON")]);
      const refused = await world.cli("restart", "--force");
      expect([refused.code, findDaemon(world.data) === null]).toEqual([5, false]);
      for (const { err } of [cancelled, refused, await world.cli("up")]) {
        expect(err).toContain("The daemon that runs keeps the settings that it started with");
        expect(err).toContain("Correct them and apply them with `asyncagents restart`.");
        expect(err).not.toContain("nothing is started");
      }
      expect((await world.cli("config")).out).toContain("The daemon that runs keeps the settings");
      expect((await world.cli("down", "--force")).code).toBe(0);
    },
    PATIENCE,
  );
});

test(
  "a project's file is not read",
  async () => {
    const world = cliWorld();
    writeFileSync(join(world.work, "asyncagents.json"), '{ "limits": { "maxCost": 1 }, "nonsense": 1 }');
    const { settings, problems } = await world.json<Shown>("config");
    expect(problems).toEqual([]);
    expect(settings.every(({ source }) => source !== "file")).toBe(true);
  },
  PATIENCE,
);

test(
  "doctor warns of a file that others can read, and of a variable that is nearly one of ours",
  async () => {
    const world = cliWorld();
    const file = configure(world, {});
    chmodSync(file, 0o644);
    world.environment.ASYNCAGENTS_MAX_COSTS = "1";
    const { out } = await world.cli("doctor");
    expect(out).toContain(`chmod 600 '${file}'`);
    expect(out).toContain("Did you mean ASYNCAGENTS_MAX_COST?");
    rmSync(file);
    delete world.environment.ASYNCAGENTS_MAX_COSTS;
    expect((await world.cli("doctor")).out).toMatch(/✓ settings +.*none; the defaults apply/);
  },
  PATIENCE,
);
