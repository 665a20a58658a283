import { describe, expect, test } from "bun:test";
import { AsyncAgentsError, messageOf } from "../../src/model/errors.ts";

describe("errors", () => {
  test("isInstance recognizes our errors, even from another copy of the code", () => {
    const ours = new AsyncAgentsError("not_found", "There is no such task.");
    expect(ours.name).toBe("AsyncAgentsError");
    expect(AsyncAgentsError.isInstance(ours)).toBe(true);
    expect(AsyncAgentsError.isInstance({ [Symbol.for("asyncagents.error")]: true })).toBe(true);
  });

  test("isInstance rejects everything else", () => {
    for (const value of [null, undefined, "not_found", 404, {}, new Error("x")]) {
      expect(AsyncAgentsError.isInstance(value)).toBe(false);
    }
  });

  test("an error keeps its cause and its details, if any", () => {
    const cause = new Error("refused");
    const told = new AsyncAgentsError("host_failed", "m", { cause, details: { id: 1 } });
    expect([told.cause, told.details]).toEqual([cause, { id: 1 }]);
    const plain = new AsyncAgentsError("host_failed", "m");
    expect([Object.hasOwn(plain, "cause"), plain.details]).toEqual([false, {}]);
  });

  test("messageOf gives a message for any thrown value", () => {
    expect([messageOf(new Error("x")), messageOf("y"), messageOf(undefined)]).toEqual(["x", "y", "undefined"]);
  });
});
