import { expect, test } from "bun:test";
import { z } from "zod";
import { checkFile } from "../../src/configuration/check.ts";
import { optional } from "../../src/configuration/section.ts";
import type { ValueKind } from "../../src/configuration/value-kinds.ts";

/** A setting with a shape of its own, as later sections may have. */
const rules: ValueKind<unknown> = {
  schema: z.array(z.strictObject({ tool: z.string(), action: z.enum(["ask", "deny"]).optional() })),
  allowed: 'a list of rules, such as { "tool": "bash", "action": "ask" }',
  fromText: (text) => text,
};
const prices: ValueKind<unknown> = {
  schema: z.record(z.string(), z.strictObject({ input: z.number() })),
  allowed: "prices by model",
  fromText: (text) => text,
};
const sections = {
  policy: {
    means: "",
    settings: {
      rules: optional(rules, { means: "", otherwise: "" }),
      prices: optional(prices, { means: "", otherwise: "" }),
    },
  },
};

test("an unknown name inside of a value is named with the nearest known one, too", () => {
  const { problems, values } = checkFile(sections, {
    policy: { rules: [{ tool: "a" }, { tool: "b", actoin: "ask" }], prices: { "x/y": { input: 1, inputs: 2 } } },
  });
  expect(problems).toEqual([
    'policy.rules[1].actoin is unknown. Did you mean policy.rules[1].action? It is in {"tool":"b","actoin":"ask"}.',
    "policy.prices.x/y.inputs is unknown. Did you mean policy.prices.x/y.input?",
  ]);
  expect(values.size).toBe(0);
});

test("a wrong value inside of a value is named with its place, what is allowed there, and the item it is in", () => {
  const { problems } = checkFile(sections, {
    policy: { rules: [{ tool: "a" }, { tool: 1, action: "dney", ation: "ask" }, {}, 7], prices: { "x/y": {} } },
  });
  const item = 'It is in {"tool":1,"action":"dney","ation":"ask"}.';
  expect(problems).toEqual([
    `policy.rules[1].tool is 1: it must be a string. ${item}`,
    `policy.rules[1].action is "dney": it must be one of ask, deny. Did you mean deny? ${item}`,
    `policy.rules[1].ation is unknown. Did you mean policy.rules[1].action? ${item}`,
    "policy.rules[2].tool is missing: it must be a string. It is in {}.",
    "policy.rules[3] is 7: it must be an object.",
    "policy.prices.x/y.input is missing: it must be a number.",
  ]);
});

test("what is not a list or an object at all says what the whole must be", () => {
  const { problems } = checkFile(sections, { policy: { rules: "all" } });
  expect(problems).toEqual([`policy.rules is "all": it must be ${rules.allowed}`]);
});
