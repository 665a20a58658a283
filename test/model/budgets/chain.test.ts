import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Budget, type BudgetLimits, NO_LIMITS, NOTHING, newBudget } from "../../../src/model/budgets/budget.ts";
import {
  allReserved,
  type BudgetStep,
  changedChain,
  exhausted,
  requestVerdict,
  shortageIn,
  withLimits,
} from "../../../src/model/budgets/chain.ts";

const limited = (limits: Partial<BudgetLimits>) => ({ ...NO_LIMITS, ...limits });
const budget = (id: string, cost: number | null, more: Partial<Budget> = {}): Budget => ({
  ...newBudget(id, limited({ cost }), { by: "me", at: 0 }),
  ...more,
});
const step = (fields: Partial<BudgetStep>): BudgetStep => ({
  taskId: "a",
  used: NOTHING,
  unpriced: 0,
  tasks: 0,
  live: 0,
  at: 1,
  ...fields,
});
const used = (cost: number) => ({ ...NOTHING, cost, tokens: 1 });

describe("what is reserved", () => {
  /** A tree: s has the tasks a and b; a has a1 and a2. Those with a limit have a budget of their own. */
  const PARENTS = { a: null, b: null, a1: "a", a2: "a" } as const;
  type Name = keyof typeof PARENTS;
  const NAMES = Object.keys(PARENTS) as Name[];
  const chainOf = (name: Name, budgets: ReadonlyMap<string, Budget>): string[] => {
    const parent = PARENTS[name];
    const around = parent === null ? ["session:s"] : chainOf(parent, budgets);
    return [`task:${name}`, ...around].filter((id) => budgets.has(id));
  };

  test("is what live tasks may still use, whatever happened in whichever order", () => {
    const limits = fc.record(Object.fromEntries(NAMES.map((name) => [name, fc.constantFrom(null, 1, 2, 5)])));
    const events = fc.array(
      fc.record({ name: fc.constantFrom(...NAMES), what: fc.constantFrom("begin", "use", "end"), cost: fc.nat(2) }),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(limits, events, (own, history) => {
        const budgets = new Map([["session:s", budget("session:s", 10)]]);
        for (const name of NAMES) {
          const cost = (own as Record<Name, number | null>)[name];
          if (cost !== null) budgets.set(`task:${name}`, budget(`task:${name}`, cost));
        }
        const live = new Set<Name>();
        for (const { name, what, cost } of history) {
          const isFitting = what === "begin" ? !live.has(name) : live.has(name);
          if (!isFitting) continue;
          if (what === "begin") live.add(name);
          if (what === "end") live.delete(name);
          const chain = chainOf(name, budgets).flatMap((id) => budgets.get(id) ?? []);
          const change = step({
            live: what === "begin" ? 1 : what === "end" ? -1 : 0,
            used: what === "use" ? used(cost) : NOTHING,
          });
          for (const changed of changedChain(chain, change)) budgets.set(changed.id, changed);
        }
        const chains = NAMES.map((name) => chainOf(name, budgets).flatMap((id) => budgets.get(id) ?? []));
        for (const { id, reserved } of budgets.values()) {
          const own = chains.filter(([first], index) => first?.id === `task:${NAMES[index]}`);
          expect([id, reserved.cost]).toEqual([id, allReserved(id, own).cost]);
        }
      }),
      { numRuns: 500 },
    );
  });

  test("is refused if it does not fit, and covers what is below it", () => {
    const outer = budget("session:s", 3);
    const fits = changedChain([budget("task:a", 2), outer], step({ tasks: 1, live: 1 }));
    expect(shortageIn(fits, true)).toBeNull();
    expect(fits.map(({ tasks, live, reserved }) => [tasks, live, reserved.cost])).toEqual([
      [0, 1, 0],
      [1, 1, 2],
    ]);
    const [, after] = fits;
    const second = changedChain([budget("task:b", 2), after ?? outer], step({ tasks: 1, live: 1 }));
    expect(shortageIn(second, true)).toMatchObject({ budget: { id: "session:s" }, measure: "cost", needed: 2 });
    const shared = changedChain([after ?? outer], step({ tasks: 1, live: 1 }));
    expect(shortageIn(shared, true)).toBeNull();
    const below = changedChain([fits[0] ?? outer, { ...outer, reserved: { ...NOTHING, cost: 3 } }], step({ live: 1 }));
    expect(shortageIn(below, false)).toBeNull();
  });
});

describe("a budget that is used up", () => {
  test("is marked once, and again only with other limits", () => {
    const [warned] = changedChain([budget("session:s", 1)], step({ used: used(0.85), at: 5 }));
    expect(warned).toMatchObject({ warnedAt: 5, usedUpAt: null });
    const [over] = changedChain([warned as Budget], step({ used: used(0.15), at: 7 }));
    expect(over).toMatchObject({ warnedAt: 5, usedUpAt: 7 });
    const [more] = changedChain([over as Budget], step({ used: used(1), at: 9 }));
    expect(more).toMatchObject({ warnedAt: 5, usedUpAt: 7 });
    expect(withLimits(more as Budget, limited({ cost: 10 }), { by: "me", at: 10 })).toMatchObject({
      warnedAt: null,
      usedUpAt: null,
    });
    expect(withLimits(more as Budget, limited({ cost: 2 }), { by: "me", at: 10 })).toMatchObject({ usedUpAt: 7 });
  });

  test("stops everybody in it; one that others have reserved stops only those without a budget", () => {
    const own = budget("task:a", 2, { spent: used(1), live: 1 });
    const outer = budget("session:s", 3, { spent: used(2), reserved: { ...NOTHING, cost: 1 }, live: 2 });
    expect(exhausted([own, outer])).toBeNull();
    expect(exhausted([outer])).toMatchObject({ budget: { id: "session:s" }, measure: "cost" });
    expect(exhausted([own, { ...outer, spent: used(3) }])).toMatchObject({ budget: { id: "session:s" } });
  });
});

describe("a request", () => {
  const chain = (more: Partial<Budget>) => [budget("session:s", 1, more)];
  const largest = used(0.25);

  test("waits while others may use up what is left, and for the first one of a budget", () => {
    expect(requestVerdict(chain({ flying: 0 }), [0])).toEqual({ verdict: "go" });
    expect(requestVerdict(chain({ flying: 1 }), [1])).toEqual({ verdict: "go" });
    expect(requestVerdict(chain({ flying: 1 }), [0])).toEqual({ verdict: "wait", isFirst: true });
    expect(requestVerdict(chain({ flying: 3, largest }), [0])).toEqual({ verdict: "go" });
    expect(requestVerdict(chain({ flying: 4, largest }), [0])).toEqual({ verdict: "wait", isFirst: false });
    expect(requestVerdict(chain({ flying: 4, largest }), [1])).toEqual({ verdict: "go" });
    expect(requestVerdict(chain({ flying: 4, largest }), [0], 1)).toEqual({ verdict: "go" });
    expect(requestVerdict(chain({ flying: 5, largest }), [0], 1)).toEqual({ verdict: "wait", isFirst: false });
    expect(requestVerdict(chain({ spent: used(1), flying: 1, largest }), [0])).toEqual({ verdict: "stop" });
  });

  test("never makes more than one more than allowed, in whichever order requests begin and end", () => {
    const order = fc.array(fc.nat(2), { minLength: 60, maxLength: 60 });
    fc.assert(
      fc.property(order, fc.integer({ min: 1, max: 12 }), (tasks, limit) => {
        let now = budget("session:s", limit);
        const flying = new Set<number>();
        let made = 0;
        for (const task of tasks) {
          if (flying.has(task)) {
            flying.delete(task);
            const [counted] = changedChain([now], step({ used: used(1) }));
            now = { ...(counted as Budget), flying: flying.size };
          } else if (requestVerdict([now], [0]).verdict === "go") {
            flying.add(task);
            made++;
            now = { ...now, flying: flying.size };
          }
        }
        expect(made).toBeLessThanOrEqual(limit + 1);
      }),
      { numRuns: 500 },
    );
  });
});
