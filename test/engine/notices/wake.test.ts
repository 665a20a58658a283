/** Which ends start a turn of the parent, and which are only told. */
import { expect, test } from "bun:test";
import type { StartInput } from "../../../src/hosts/host.ts";
import { fail, gate, say } from "../../../src/hosts/scripted/script.ts";
import { AsyncAgentsError } from "../../../src/model/errors.ts";
import { codeOf, ended, idle, launch, newWorld, notices } from "../engine-bed.ts";

test("tasks that wake together cost their parent one turn, when the last of them ends", async () => {
  const world = newWorld();
  const side = await world.side();
  const parent = world.parent();
  const held = gate("last");
  const names = ["a", "b", "c", "d", "e"];
  const tasks = [];
  for (const description of names) {
    const script = description === "e" ? world.script(held, say("done")) : world.script(say("done"));
    tasks.push(await launch(side, parent, script, { description, wake: "all" }));
  }
  for (const task of tasks.slice(0, 4)) await ended(side, task);
  expect([world.told(parent), world.turns(parent)]).toEqual([[], 0]);
  const woken = idle(side, parent);
  side.host.gate("last").open();
  await woken;
  expect(world.turns(parent)).toBe(1);
  const [text, ...more] = world.told(parent);
  expect(more).toEqual([]);
  expect(text?.slice(5).split(", ").toSorted()).toEqual(names.map((name) => `${name}#0 ended`));
});

test("a launch that fails does not keep the others of its batch from being told", async () => {
  const world = newWorld();
  const begun = Promise.withResolvers<void>();
  const door = Promise.withResolvers<void>();
  const side = await world.side({
    host: (host) => ({
      async start(input: StartInput) {
        if (input.title !== "broken") return host.start(input);
        begun.resolve();
        await door.promise;
        throw new AsyncAgentsError("host_failed", "no room", { details: { refused: true } });
      },
    }),
  });
  const parent = world.parent();
  const first = await launch(side, parent, world.script(gate("first"), say("done")), {
    description: "a",
    wake: "all",
  });
  const failing = launch(side, parent, world.script(say("never")), { description: "broken", wake: "all" });
  await begun.promise;
  side.host.gate("first").open();
  await ended(side, first);
  expect(world.told(parent)).toEqual([]);
  door.resolve();
  expect(await codeOf(failing)).toBe("host_failed");
  await notices(side, parent, "delivered", 1);
  expect(world.told(parent)).toEqual(["told a#0 ended"]);
});

test("what does not wake the parent is told without a turn, and merged into what does", async () => {
  const world = newWorld();
  const side = await world.side({ settings: { wake: "failures" } });
  const parent = world.parent();
  await ended(side, await launch(side, parent, world.script(say("done")), { description: "fine" }));
  await notices(side, parent, "delivered", 1);
  expect([world.told(parent), world.turns(parent)]).toEqual([["told fine#0 ended"], 0]);
  await ended(side, await launch(side, parent, world.script(fail("broken")), { description: "never", wake: "never" }));
  await notices(side, parent, "delivered", 2);
  expect(world.turns(parent)).toBe(0);
  const woken = idle(side, parent);
  await ended(side, await launch(side, parent, world.script(fail("broken")), { description: "bad" }));
  await woken;
  expect([world.told(parent).at(-1), world.turns(parent)]).toEqual(["told bad#0 ended", 1]);
});
