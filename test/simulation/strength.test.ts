import { expect, test } from "bun:test";
import { KNOWN_FAULTS, OUT_OF_REACH } from "../../simulation/strength/known-faults.ts";
import { MUTATIONS } from "../../simulation/strength/mutations.ts";
import type { FailedSeed } from "../../simulation/strength/search.ts";
import { misfits, Workshop } from "../../simulation/strength/workshop.ts";

const FAULTS = [...KNOWN_FAULTS, ...MUTATIONS];

test("every fault that is put back still fits the code", () => {
  expect(misfits(FAULTS)).toEqual([]);
  const names = [...FAULTS, ...OUT_OF_REACH].map(({ name }) => name);
  expect(names).toEqual([...new Set(names)]);
});

test("an edit that does not fit is named", () => {
  const file = "src/model/evidence.ts";
  const fault = { name: "gone", fault: "", edits: [{ file, old: "no such text", new: "" }] };
  expect(misfits([fault])).toEqual([`gone: its text occurs 0 times in ${file}: "no such text"`]);
});

test("an edit that leaves no code behind is named", () => {
  const file = "src/model/evidence.ts";
  const fault = { name: "broken", fault: "", edits: [{ file, old: "export function noEvidence(", new: "else (" }] };
  expect(misfits([fault]).join("\n")).toStartWith(`broken: ${file} cannot be read with its fault: `);
});

test("a fault that is put back is found, and only in the copy", async () => {
  const fault = MUTATIONS.find(({ name }) => name === "run-row-not-updated");
  if (!fault) throw new Error("The fault is not in the list.");
  const workshop = new Workshop();
  const failed: FailedSeed[] = [];
  try {
    const { problem } = await workshop.search(fault, { first: 1, seeds: 5, minutes: 1 }, async (seed) => {
      failed.push(seed);
      return true;
    });
    expect(problem).toBeNull();
  } finally {
    workshop.close();
  }
  expect(failed.flatMap(({ violations }) => violations).join("\n")).toContain("do not give its row");
  expect(misfits([fault])).toEqual([]);
}, 60_000);
