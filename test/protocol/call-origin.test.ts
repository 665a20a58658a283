import { expect, test } from "bun:test";
import { callerName, FROM_PERSON } from "../../src/protocol/call-origin.ts";

test("who proves nothing does not share the turns of the user of this machine", () => {
  const token = { name: "ci", role: "read" } as const;
  expect([callerName(FROM_PERSON), callerName({ ...FROM_PERSON, token })]).toEqual(["local user", "ci"]);
  expect(callerName({ ...FROM_PERSON, door: "model", token })).toBe("ci (agent)");
  expect(callerName({ ...FROM_PERSON, isTokenless: true })).toBe("without a token");
});
