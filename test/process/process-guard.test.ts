import { expect, test } from "bun:test";
import { DESCENDANTS } from "../../src/process/process-guard.ts";

/** The processes below `top` in a table of processes and their parents. */
async function below(top: number, table: readonly string[]): Promise<number[]> {
  const awk = Bun.spawn(["awk", "-v", `top=${top}`, DESCENDANTS], {
    stdin: new Blob([table.join("\n")]),
    stdout: "pipe",
    timeout: 10_000,
  });
  const text = await new Response(awk.stdout).text();
  expect(await awk.exited).toBe(0);
  return text.trim().split("\n").filter(Boolean).map(Number).sort();
}

test("all processes below one are found, and no others", async () => {
  expect(await below(10, ["1 0", "10 1", "11 10", "12 11", "20 1", "21 20"])).toEqual([10, 11, 12]);
});

test("a circle in the table of processes does not hold up the guard", async () => {
  expect(await below(10, ["10 1", "11 10", "30 31", "31 32", "32 30", "33 30"])).toEqual([10, 11]);
});
