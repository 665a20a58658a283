import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { RunEffect } from "../../../src/model/live-run/effects.ts";
import type { RunInput } from "../../../src/model/live-run/inputs.ts";
import { isResting, isWanted, type LiveRun } from "../../../src/model/live-run/live-run.ts";
import { step } from "../../../src/model/live-run/step.ts";
import { isSteering } from "../../../src/model/steering.ts";
import { isLive } from "../../../src/model/task.ts";
import { anyInput } from "./any-input.ts";
import { checkStep, type Outcome, sampleRun, Walk, WORK } from "./walk.ts";

const RUNS = { numRuns: 1_000 };

/** One move of a walk, with its name for the report of a walk that fails. */
interface Move {
  name: string;
  make: (walk: Walk) => void;
}

const nat = fc.nat({ max: 9 });
const WORDS: RunInput[] = [
  { type: "session.idle" },
  { type: "session.working" },
  { type: "session.failed", error: "of another run", aborted: false },
  { type: "text.written" },
  { type: "turn.delayed" },
  { type: "host.ended", reason: "killed" },
  { type: "cancel", reason: "no longer needed" },
  { type: "budgets.read", budgets: { isTimed: true }, breach: null },
  { type: "budgets.read", budgets: { isTimed: false }, breach: "the budget is used up" },
];

/** In this world events get lost and repeated, and calls fail; but every call is answered at some time. */
const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(nat, fc.boolean()).map(([pick, keep]) => {
      return { name: `answer ${pick} ${keep}`, make: (walk: Walk) => walk.answer(pick, "ok", keep) };
    }),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(nat, fc.constantFrom("failed", "lost", "gone")).map(([pick, outcome]) => {
      return { name: `${outcome} ${pick}`, make: (walk: Walk) => walk.answer(pick, outcome) };
    }),
  },
  {
    weight: 5,
    arbitrary: fc.tuple(fc.constantFrom(...WORK), fc.nat({ max: 2 })).map(([what, times]) => {
      return { name: `${what} ${times}`, make: (walk: Walk) => walk.work(what, times) };
    }),
  },
  {
    weight: 2,
    arbitrary: fc.nat({ max: 2 }).map((times) => ({ name: `say ${times}`, make: (walk: Walk) => walk.say(times) })),
  },
  { weight: 3, arbitrary: fc.constant({ name: "poll", make: (walk: Walk) => walk.poll() }) },
  { weight: 2, arbitrary: fc.constant({ name: "fire", make: (walk: Walk) => walk.fire() }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(10, 1_000, 30_000, 700_000).map((ms) => {
      return { name: `pass ${ms}`, make: (walk: Walk) => walk.pass(ms) };
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(...WORDS).map((input) => {
      return { name: input.type, make: (walk: Walk) => void walk.feed(input) };
    }),
  },
);

/** What ends a run at once, or takes it away; rare, so that most walks are long. */
const blow = fc.constantFrom<RunInput>(
  { type: "interrupt", error: "interrupted" },
  { type: "session.deleted" },
  { type: "lose" },
);

/** A run somewhere in its life: what happened to it so far. */
interface Life {
  isForked: boolean;
  opening: readonly Move[];
  moves: readonly Move[];
}

const turn: Move = { name: "turn", make: (walk) => void walk.feed({ type: "turn.came" }) };
const work = (what: (typeof WORK)[number]): Move => ({ name: what, make: (walk) => walk.work(what, 1) });
const [begin, ask] = [work("begin"), work("ask")];
const answers = (outcome: Outcome): Move => ({ name: outcome, make: (walk) => walk.answer(0, outcome) });
const OPENINGS: Move[][] = [
  [],
  [turn],
  [turn, answers("lost")],
  [turn, answers("failed")],
  [turn, answers("ok")],
  [turn, answers("ok"), answers("ok"), begin],
  [turn, answers("ok"), answers("ok"), begin, ask],
];

const lives: fc.Arbitrary<Life> = fc.record({
  isForked: fc.boolean(),
  opening: fc.constantFrom(...OPENINGS),
  moves: fc.array(move, { maxLength: 40, size: "max" }),
});

function walked({ isForked, opening, moves }: Life): Walk {
  const walk = new Walk(isForked);
  for (const each of [...opening, ...moves]) each.make(walk);
  return walk;
}

const over = (run: LiveRun) => run.stage.name === "over";

describe("step, for any inputs in any order", () => {
  test("is total and pure: it changes neither run nor input, and gives the same answer twice", () => {
    fc.assert(
      fc.property(fc.boolean(), fc.array(anyInput, { maxLength: 15 }), (isForked, inputs) => {
        let run = sampleRun({ isForked });
        for (const [index, input] of inputs.entries()) {
          const at = { awake: index * 10_000, wall: index };
          const copies = structuredClone([run, input, at]);
          const once = step(run, input, at);
          expect([run, input, at]).toEqual(copies);
          expect(step(run, input, at)).toEqual(once);
          run = once.run;
        }
      }),
      RUNS,
    );
  });

  test("has few effects, prompts once at most, ends for a reason, and does nothing after the end", () => {
    fc.assert(
      fc.property(fc.boolean(), fc.array(anyInput, { maxLength: 60 }), (isForked, inputs) => {
        let run = step(sampleRun({ isForked }), { type: "turn.came" }, { awake: 0, wall: 0 }).run;
        let prompts = isForked ? 0 : 1;
        for (const [index, input] of inputs.entries()) {
          // An answer that nobody waits for is not given; a walk gives those that are.
          if (input.type === "aborted" || input.type === "abort.failed" || input.type === "inspected") continue;
          const after = step(run, input, { awake: index, wall: index });
          checkStep(run, input, after);
          prompts += after.effects.filter(({ type }) => type === "prompt").length;
          run = after.run;
        }
        expect(prompts).toBeLessThanOrEqual(1);
      }),
      RUNS,
    );
  });

  test("ignores what happens in its session before its prompt is sent, but for its deletion", () => {
    const foreign = anyInput.filter(({ type }) => /^(session|tool|usage|text|prompt|request|status)\./.test(type));
    fc.assert(
      fc.property(fc.array(foreign), (inputs) => {
        let run = sampleRun();
        for (const input of inputs) {
          if (input.type === "session.deleted") continue;
          const after = step(run, input, { awake: 5, wall: 5 });
          expect(after).toEqual({ run, effects: [] });
          run = after.run;
        }
      }),
      RUNS,
    );
  });
});

describe("a run in a world that loses, repeats and fails", () => {
  test("ends at most once, and is announced as ended at most once", () => {
    fc.assert(
      fc.property(lives, fc.option(blow, { nil: null }), fc.array(move, { maxLength: 20 }), (life, last, more) => {
        const walk = walked(life);
        if (last) walk.feed(last);
        for (const each of more) each.make(walk);
        const announced = walk.effects.filter((effect) => effect.type === "announce" && !isLive(effect.task.status));
        expect(announced.length).toBeLessThanOrEqual(1);
        if (!isLive(walk.task.status) && walk.pending.length === 0) {
          const isHeard = over(walk.run) || walk.run.ending !== null;
          expect(isHeard).toBe(true);
        }
      }),
      RUNS,
    );
  });

  test("is not ended on evidence while its agent works, as long as no event of another run is mixed in", () => {
    const isOwn = ({ name }: Move) => !WORDS.some(({ type }) => type === name);
    fc.assert(
      fc.property(lives, (life) => {
        const walk = walked({ ...life, moves: life.moves.filter(isOwn) });
        expect(walk.hasLied).toBe(false);
      }),
      RUNS,
    );
  });

  test("gets to its end by itself once nothing fails any more, with the truth", () => {
    fc.assert(
      fc.property(lives, (life) => {
        const walk = walked(life);
        const { hasPrompt } = walk.host;
        walk.calm();
        expect(walk.run.stage.name).toBe("over");
        expect(isLive(walk.task.status)).toBe(false);
        const { outcome, error } = walk.task.run;
        if (outcome === "completed") expect(walk.host.evidence.answer).not.toBeNull();
        if (!hasPrompt && walk.count("prompt") === 0) expect([outcome, error]).not.toEqual(["completed", null]);
      }),
      RUNS,
    );
  });

  test("calls what was said to it delivered only if its agent took it up, and never ends before it says so", () => {
    const isOwn = ({ name }: Move) => !WORDS.some(({ type }) => type === name);
    fc.assert(
      fc.property(lives, (life) => {
        const walk = walked({ ...life, moves: life.moves.filter(isOwn) });
        const isTaken = ({ messageId }: { messageId: string | null }) =>
          messageId !== null && walk.host.evidence.taken.includes(messageId);
        for (const message of walk.said.values())
          if (message.state === "delivered") expect(isTaken(message)).toBe(true);
        fc.pre(!over(walk.run));
        walk.calm();
        // A run that is stopped does not look what its agent did last, nor one whose agent never began.
        if (walk.run.stops > 0 || walk.count("abandon") > 0) return;
        for (const message of walk.said.values()) {
          expect([message, isTaken(message)]).toEqual([message, message.state === "delivered"]);
        }
      }),
      RUNS,
    );
  });

  test("ends on a cancel, however often the host fails to stop it, and nothing is left at work", () => {
    fc.assert(
      fc.property(lives, fc.nat({ max: 3 }), (life, failures) => {
        const walk = walked(life);
        fc.pre(!over(walk.run));
        walk.feed({ type: "cancel", reason: "enough" });
        for (let count = 0; count < failures; count++) {
          const isAbort = ({ type, purpose }: { type: string; purpose?: { name: string } }) =>
            type === "abort" && purpose?.name === "stop";
          const index = walk.pending.findIndex(isAbort);
          if (index < 0) break;
          walk.answer(index, "failed");
          const isWanted = walk.run.stopping === null && walk.run.ending === null;
          const { effects } = walk.feed({ type: "poll.done", isWaiting: false });
          if (isWanted) expect(effects.map(({ type }) => type)).toEqual(["abort"]);
        }
        for (let round = 0; round < 40 && !over(walk.run); round++) {
          for (let count = walk.pending.length; count > 0; count--) walk.answer(0, "ok");
          walk.pass(30_000);
          walk.poll();
        }
        expect([walk.run.stage.name, isLive(walk.task.status)]).toEqual(["over", false]);
      }),
      RUNS,
    );
  });

  test("ends when its process ends, as soon as that is written, unless it is paused", () => {
    fc.assert(
      fc.property(lives, (life) => {
        const walk = walked(life);
        fc.pre(!over(walk.run) && isLive(walk.task.status));
        const isKept = walk.run.stage.name === "paused" && isWanted(walk.run) && walk.run.cancelReason === null;
        walk.feed({ type: "interrupt", error: "interrupted" });
        while (walk.pending.some(({ type }) => type === "write")) {
          walk.answer(
            walk.pending.findIndex(({ type }) => type === "write"),
            "ok",
          );
        }
        if (isKept) expect([walk.ends, walk.task.phase]).toEqual([[], "paused"]);
        else expect([walk.run.stage.name, isLive(walk.task.status)]).toEqual(["over", false]);
      }),
      RUNS,
    );
  });

  test("is given up as soon as another process owns it, and what is at work here is stopped", () => {
    fc.assert(
      fc.property(lives, (life) => {
        const walk = walked(life);
        fc.pre(!over(walk.run));
        const isAtWork = walk.count("prompt") > 0 && !isResting(walk.run);
        walk.isStolen = true;
        const { effects } = walk.feed({ type: "lose" });
        expect(walk.run.stage).toMatchObject({ name: "over", why: "lost" });
        expect(effects.some(({ type }) => type === "sweep")).toBe(isAtWork);
      }),
      RUNS,
    );
  });

  test("is neither stopped for its limits nor called stalled while it waits for a person", () => {
    fc.assert(
      fc.property(lives, (life) => {
        const walk = walked(life);
        fc.pre(walk.run.requests.size > 0 && !over(walk.run));
        fc.pre(walk.run.cancelReason === null && walk.run.stopping === null && walk.run.ending === null);
        // A phase whose write failed is written again, once.
        walk.feed({ type: "poll.done", isWaiting: false });
        walk.pass(10_000_000);
        // A rule that was due in the meantime is followed.
        const { effects } = walk.feed({ type: "poll.done", isWaiting: false });
        const isSaid = (effect: RunEffect) =>
          effect.type === "write" ? isSteering(effect.event) : ["inspect", "steer", "rule"].includes(effect.type);
        expect(effects.filter((effect) => !isSaid(effect))).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  test("a prompt that arrives after the end is stopped", () => {
    const words = fc.array(fc.constantFrom(...WORDS), { maxLength: 5 });
    fc.assert(
      fc.property(words, blow, fc.constantFrom("ok", "lost"), (inputs, last, outcome) => {
        const walk = new Walk();
        for (const input of [{ type: "turn.came" } as const, ...inputs, last]) walk.feed(input);
        const isWrite = ({ type }: { type: string }) => type === "write";
        while (walk.pending.some(isWrite)) walk.answer(walk.pending.findIndex(isWrite), "ok");
        expect(walk.run.stage).toMatchObject({ name: "over", isPromptOut: true });
        const before = walk.effects.length;
        walk.answer(
          walk.pending.findIndex(({ type }) => type === "prompt"),
          outcome,
        );
        const types = walk.effects.slice(before).map(({ type }) => type);
        expect(types).toEqual(outcome === "ok" ? ["sweep"] : ["abandon", "sweep"]);
      }),
      RUNS,
    );
  });
});
