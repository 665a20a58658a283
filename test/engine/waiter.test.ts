/** However a wait ends, it leaves nothing behind. */
import { expect, test } from "bun:test";
import { Changes } from "../../src/engine/watching/changes.ts";
import { Waiter } from "../../src/engine/watching/waiter.ts";
import { gate, say } from "../../src/hosts/scripted/script.ts";
import { isLive, type Task } from "../../src/model/task.ts";
import { systemClock } from "../../src/process/clock.ts";
import { codeOf, ended, launch, newWorld } from "./engine-bed.ts";

const { after } = systemClock;
const hasEnded = ({ status }: Task) => !isLive(status);
const log = { info: () => {}, error: () => {} };

/** A feed that reports how many listen to it. */
class Counted extends Changes {
  listening = 0;

  override onEntries(listener: Parameters<Changes["onEntries"]>[0]): () => void {
    this.listening++;
    const stop = super.onEntries(listener);
    return () => {
      this.listening--;
      stop();
    };
  }
}

test("a wait that ends with a store error leaves no listener, no timer and no signal", async () => {
  const world = newWorld();
  const side = await world.side();
  const task = await launch(side, world.parent(), world.script(gate("held"), say("x")));
  await side.host.gate("held").reachedBy(1);
  const changes = new Counted({ store: side.store, log, after });
  const broken = { ...side.store, task: () => Promise.reject(new Error("disk full")) };
  const { signal } = new AbortController();
  const left: string[] = [];
  signal.removeEventListener = (type: string) => left.push(type);
  await expect(
    new Waiter({ store: broken, after }, changes).until(task.id, hasEnded, { timeout: 3_600_000, signal }),
  ).rejects.toThrow("disk full");
  expect([changes.listening, left]).toEqual([0, ["abort"]]);
});

test("nor does a wait that times out or is aborted by its caller", async () => {
  const world = newWorld();
  const side = await world.side();
  const task = await launch(side, world.parent(), world.script(gate("held"), say("x")));
  await side.host.gate("held").reachedBy(1);
  const changes = new Counted({ store: side.store, log, after });
  const waiter = new Waiter({ store: side.store, after }, changes);
  expect((await waiter.until(task.id, hasEnded, { timeout: 1 })).reason).toBe("timeout");
  expect((await waiter.until(task.id, hasEnded, { signal: AbortSignal.abort() })).reason).toBe("aborted");
  expect(changes.listening).toBe(0);
});

test("a wait for a run ends with it, although the task was resumed before anybody looked", async () => {
  const world = newWorld();
  const [side, other] = [await world.side(), await world.side()];
  const parent = world.parent();
  const task = await launch(side, parent, world.script(gate("held"), say("first")));
  await side.host.gate("held").reachedBy(1);
  const door = Promise.withResolvers<void>();
  const { task: read } = side.store;
  let reads = 0;
  side.store.task = async (id) => {
    // The wait has found the task; it reads it again when somebody has resumed it.
    if (++reads > 1) await door.promise;
    return read(id);
  };
  const waiting = side.engine.output(parent, task.id, { timeout: 3_600_000 });
  side.host.gate("held").open();
  await ended(other, task);
  const resumed = { owner: other.id, prompt: "go on", messageId: "msg_next", allow: [] };
  await other.store.apply(task.id, { type: "task.resumed", at: world.now(), ...resumed });
  door.resolve();
  expect(await waiting).toMatchObject({ waited: "reached", task: { run: { number: 1 } } });
});

test("an engine that cannot register listens to nothing", async () => {
  const world = newWorld();
  const side = await world.side({ started: false });
  let listening = 0;
  const { onChange } = side.store;
  side.store.onChange = (listener) => {
    listening++;
    const stop = onChange(listener);
    return () => {
      listening--;
      stop();
    };
  };
  const { addInstance } = side.store;
  side.store.addInstance = () => Promise.reject(new Error("disk full"));
  expect(await codeOf(side.engine.start())).toBeUndefined();
  expect(listening).toBe(0);
  side.store.addInstance = addInstance;
  await side.engine.start();
  expect(listening).toBe(1);
});
