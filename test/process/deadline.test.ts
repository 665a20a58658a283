/** Waiting with a limit: what ends a wait, and that nothing is left of it. */
import { describe, expect, test } from "bun:test";
import { limitsOf, pause, settlesWithin, within } from "../../src/process/deadline.ts";

const never = new Promise<never>(() => {});
const late = (ms: number) => new Error(`late after ${ms}`);

describe("within", () => {
  test("settles as the work does", async () => {
    expect(await within(Promise.resolve(1), { timeout: 1_000 }, late)).toBe(1);
    await expect(within(Promise.reject(new Error("no")), { timeout: 1_000 }, late)).rejects.toThrow("no");
    expect(await within(Promise.resolve(2), {}, late)).toBe(2);
  });

  test("rejects when time runs out, with the error of the caller", async () => {
    await expect(within(never, { timeout: 1 }, late)).rejects.toThrow("late after 1");
    await expect(within(never, { timeout: 0 }, late)).rejects.toThrow("late after 0");
  });

  test("rejects with the signal's reason when it aborts, even if it had aborted before", async () => {
    const controller = new AbortController();
    const waiting = within(never, { signal: controller.signal }, late);
    controller.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    await expect(within(never, { signal: controller.signal }, late)).rejects.toThrow("enough");
  });

  test("a failure after the limit is ignored and does not end the program", async () => {
    const work = Promise.withResolvers<void>();
    await expect(within(work.promise, { timeout: 1 }, late)).rejects.toThrow("late");
    work.reject(new Error("too late to matter"));
    await pause(1);
  });

  test("rejects a timeout that is not a number of milliseconds, before anything starts", async () => {
    for (const timeout of [-1, Number.NaN]) {
      expect(() => limitsOf({ timeout })).toThrow("timeout must be a number of milliseconds");
      await expect(within(never, { timeout }, late)).rejects.toThrow("timeout must be");
    }
    expect(limitsOf({}, 5)).toEqual({ timeout: 5 });
    expect(limitsOf({ timeout: 0 }, 5)).toEqual({ timeout: 0 });
  });
});

describe("settlesWithin", () => {
  test("is true when the work settles, either way, and false when a limit comes first", async () => {
    expect(await settlesWithin(Promise.resolve(), { timeout: 1_000 })).toBe(true);
    expect(await settlesWithin(Promise.reject(new Error("no")), { timeout: 1_000 })).toBe(true);
    expect(await settlesWithin(never, { timeout: 1 })).toBe(false);
    expect(await settlesWithin(never, { signal: AbortSignal.abort() })).toBe(false);
  });

  test("can wait longer than a timer allows", async () => {
    expect(await settlesWithin(pause(2), { timeout: Number.POSITIVE_INFINITY })).toBe(true);
  });
});

test("a pause ends early, and does not reject, when its signal aborts", async () => {
  const controller = new AbortController();
  const paused = pause(1_000_000, { signal: controller.signal });
  controller.abort();
  await paused;
  await pause(1_000_000, { signal: controller.signal });
});

test("a wait that is over holds neither a listener nor the process", async () => {
  const program = `
    import { pause, settlesWithin, within } from "${import.meta.dir}/../../src/process/deadline.ts";
    const controller = new AbortController();
    let listeners = 0;
    const add = controller.signal.addEventListener.bind(controller.signal);
    const remove = controller.signal.removeEventListener.bind(controller.signal);
    controller.signal.addEventListener = (...given) => { listeners++; add(...given); };
    controller.signal.removeEventListener = (...given) => { listeners--; remove(...given); };
    const limits = { timeout: 600_000, signal: controller.signal };
    await within(Promise.resolve(), limits, () => new Error());
    await settlesWithin(Promise.resolve(), limits);
    process.exitCode = listeners;
  `;
  const child = Bun.spawn([process.execPath, "-e", program], { stdout: "ignore", stderr: "inherit" });
  expect(await child.exited).toBe(0);
});
