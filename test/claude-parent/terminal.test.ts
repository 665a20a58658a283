/**
 * The real Claude CLI in a terminal as a parent, with everything installed: it follows launches as MCP tasks, and the
 * plugin's hooks leave those to it. Each end reaches its model exactly once.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { call, gate, say } from "../../src/testing/models/script.ts";
import { ParentBed } from "./parent-bed.ts";

let bed: ParentBed;
beforeAll(async () => {
  bed = await ParentBed.start();
  await bed.install();
});
afterAll(() => bed?.stop());

const INTERRUPTED = "interrupted: ";
const once = (texts: readonly string[]) => Object.fromEntries(texts.map((text) => [text, 1]));

test("idle, busy, failed, cancelled, ten at once, after exit, after two kinds of kill: each end is told once", async () => {
  const launch = (name: string, end = `!say end of ${name}`) => bed.launch(name, end, "plugin");
  let terminal = await bed.terminal([]);

  // Idle.
  const prompt = bed.script("first", [
    launch("idle"),
    launch("fails", "!fail broke in fails"),
    launch("stopped"),
    say("launched"),
    ...Array(3).fill(say("noted")),
  ]);
  await terminal.send(prompt);
  const session = await bed.untilStep("first#3");
  await bed.open("idle");
  await bed.untilTold(session, "end of idle");
  await bed.open("fails");
  await bed.untilTold(session, "broke in fails");
  const stopped = (await bed.tasks()).find(({ description }) => description === "stopped");
  await bed.daemon.person("stop_launch", { handle: stopped?.id ?? "" });
  await bed.untilTold(session, "cancelled by a person");

  // Busy: the end comes while the model is asked, and is read with the next request of the same turn.
  await terminal.send(
    bed.script("busy", [
      launch("busy"),
      gate("hold"),
      call("Bash", { command: "true" }),
      say("done"),
      say("extra turn"),
    ]),
  );
  await bed.model.gate("hold").reached;
  await bed.open("busy");
  await bed.notices();
  bed.model.gate("hold").open();
  await bed.untilTold(session, "end of busy");
  expect(bed.model.requests.find(({ answeredBy }) => answeredBy === "busy#end")).toBeUndefined();

  // Ten at once.
  const ten = Array.from({ length: 10 }, (_, index) => `many${index}.`);
  await terminal.send(bed.script("many", [...ten.map((name) => launch(name)), say("launched ten")]));
  await bed.untilStep("many#10");
  await Promise.all(ten.map((name) => bed.open(name)));
  for (const name of ten) await bed.untilTold(session, `end of ${name}`);

  // Exit: one ends while nobody is there, the other one later.
  await terminal.send(bed.script("leaving", [launch("away"), launch("later"), say("bye")]));
  await bed.untilStep("leaving#2");
  await terminal.leave();
  await bed.open("away");
  terminal = await bed.terminal(["--continue"]);
  await bed.untilTold(session, "end of away");
  await bed.open("later");
  await bed.untilTold(session, "end of later");

  // The same after kill -9 of the CLI.
  await terminal.send(bed.script("dying", [launch("killed"), launch("after-kill"), say("soon gone")]));
  await bed.untilStep("dying#2");
  await terminal.kill();
  await bed.open("killed");
  terminal = await bed.terminal(["--continue"]);
  await bed.untilTold(session, "end of killed");
  await bed.open("after-kill");
  await bed.untilTold(session, "end of after-kill");

  // kill -9 of the daemon ends its agents: the daemon comes back and says so.
  await terminal.send(bed.script("crash", [launch("crashed"), say("waiting")]));
  await bed.untilStep("crash#1");
  await bed.crashDaemon();
  await bed.untilTold(session, INTERRUPTED);

  const told = await bed.notices();
  expect(Object.keys(told)).toHaveLength(19);
  // A busy machine may make the CLI take the server for an old one: then the hooks tell it.
  expect(Object.values(told).some((reason) => reason.includes("MCP task"))).toBe(true);
  await terminal.send(bed.script("last", [say("the end")]));
  await bed.untilStep("last#0");
  const ends = ["idle", "busy", ...ten, "away", "later", "killed", "after-kill"].map((name) => `end of ${name}`);
  const all = [...ends, "broke in fails", "cancelled by a person", INTERRUPTED];
  expect(bed.told(session, all)).toEqual(once(all));
}, 600_000);
