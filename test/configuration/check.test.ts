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
    "policy.rules.1.actoin is unknown. Did you mean policy.rules.1.action?",
    "policy.prices.x/y.inputs is unknown. Did you mean policy.prices.x/y.input?",
  ]);
  expect(values.size).toBe(0);
});

test("a wrong value inside of a value says what the whole must be", () => {
  const { problems } = checkFile(sections, { policy: { rules: [{ tool: 1 }] } });
  expect(problems).toEqual([`policy.rules is [{"tool":1}]: it must be ${rules.allowed}`]);
});
