/** The text beside a structured answer: short, complete, and usable as it is. */
import { expect, test } from "bun:test";
import { compactText } from "../../src/mcp/compact-text.ts";

test("fields are lines, rows are lines, and nothing is left out", () => {
  const text = compactText({
    done: true,
    tasks: [
      { id: "a", title: "One", tools: ["read", "edit"], error: null },
      { id: "b", title: "", tools: [], error: "x" },
    ],
    filters: { status: null, limit: 50 },
    variants: ["build", "plan"],
    none: [],
    absent: undefined,
  });
  expect(text.split("\n")).toEqual([
    "done: true",
    "tasks (id | title | tools | error):",
    "  a | One | read edit | -",
    "  b | - | - | x",
    "filters:",
    "  status: -",
    "  limit: 50",
    "variants: build, plan",
    "none: none",
  ]);
});

test("long texts come last and stay as they are; rows with such texts are blocks", () => {
  const diff = "--- a/x\n+++ b/x\n+ indented";
  expect(
    compactText({
      repos: [
        { diff, name: "shop" },
        { diff, name: "site" },
      ],
    }).split("\n"),
  ).toEqual([
    ...["repos 1 of 2:", "  name: shop", "  diff:", ...diff.split("\n")],
    ...["repos 2 of 2:", "  name: site", "  diff:", ...diff.split("\n")],
  ]);
  expect(compactText({ message: "a\nb", state: "completed" })).toBe("state: completed\nmessage:\na\nb");
});
