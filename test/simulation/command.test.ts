import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { readArguments } from "../../simulation/arguments.ts";
import type { PlayedSeed } from "../../simulation/player.ts";
import { playAll } from "../../simulation/players.ts";
import { Tally } from "../../simulation/tally.ts";

const MAIN = join(import.meta.dir, "../../simulation/main.ts");

async function simulate(...args: string[]) {
  const child = Bun.spawn([process.execPath, MAIN, ...args], { stdout: "pipe", stderr: "pipe" });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { out, err, code };
}

describe("the arguments of simulate", () => {
  test("one seed is played if only its number is given, otherwise two hundred", () => {
    expect(readArguments(["--seed", "7"])).toMatchObject({ seed: 7, seeds: 1, jobs: 1, shrink: true });
    expect(readArguments([])).toMatchObject({ seed: 1, seeds: 200, minutes: null, steps: null });
  });

  test("the short form of a seed is read as it is printed", () => {
    const args = readArguments([
      "--seed",
      "7",
      "--storm",
      "900",
      "--without",
      "1,12",
      "--calm",
      "clock jumps,call fails",
    ]);
    expect([args.storm, [...args.without], [...args.calm]]).toEqual([900, [1, 12], ["clock jumps", "call fails"]]);
  });

  test.each([
    "--seeds many",
    "--seeds 0",
    "--jobs 500",
    "--seeds 2 --history",
    "--calm rain",
    "--without x",
    "--nonsense",
  ])("%s is refused", (line) => {
    expect(() => readArguments(line.split(" "))).toThrow();
  });
});

describe("npm run simulate", () => {
  test("explains itself, and refuses what it does not know", async () => {
    const [help, wrong] = await Promise.all([simulate("--help"), simulate("--calm", "rain")]);
    expect([help.code, wrong.code]).toEqual([0, 2]);
    expect(help.out).toContain("--keep-going");
    expect(wrong.err).toContain('There is no fault "rain"');
  }, 30_000);

  test("shows a seed that fails in its shortest form, with the command that plays it again", async () => {
    const { out, code } = await simulate("--seeds", "5", "--steps", "60");
    expect(code).toBe(1);
    expect(out).toContain("Seed 1 failed:\n  it did not come to rest in 60 steps");
    const [, again = ""] = /npm run simulate -- (.*)/.exec(out) ?? [];
    expect(again).toStartWith("--seed 1 --steps 60 --storm ");
    const quoted = again.match(/"[^"]*"|\S+/g)?.map((part) => part.replaceAll('"', "")) ?? [];
    expect((await simulate(...quoted)).code).toBe(1);
  }, 60_000);

  test("plays the same in several processes as in one", async () => {
    const played = async (jobs: number) => {
      const seeds: PlayedSeed[] = [];
      const task = { from: 20, until: 25, calm: [], without: [], stormMs: 60_000 };
      await playAll(task, jobs, (seed) => seeds.push(seed) > 0);
      return seeds.sort((one, other) => one.seed - other.seed);
    };
    expect(await played(3)).toEqual(await played(1));
  }, 60_000);
});

test("a tally adds up what happened", () => {
  const tally = new Tally(10, 0);
  const plain = { violations: [], faults: [["clock jumps", 2]], actions: [] } satisfies Partial<PlayedSeed>;
  tally.add({ ...plain, seed: 1, steps: 1_000, faults: [["clock jumps", 2]] });
  tally.add({ ...plain, seed: 2, steps: 2_000, faults: [["clock jumps", 1]], violations: ["something is wrong"] });
  expect(tally.progress(4_000)).toBe("2 of 10 seeds, 1 failed; 0.5 a second, 16 s left");
  const summary = tally.summary(4_000);
  expect(summary).toContain("          3  clock jumps");
  expect(summary).toContain("          0  process dies\n");
  expect(summary).toEndWith("2 of 10 seeds in 4 s: 0.5 a second, 1,500 steps each\n1 failed: 2");
});
