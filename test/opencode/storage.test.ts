import { expect, onTestFinished, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfiguration } from "../../src/configuration/configuration.ts";
import type { Member } from "../../src/engine/member.ts";
import { AsyncAgentsError } from "../../src/model/errors.ts";
import { holdStorage } from "../../src/opencode/storage.ts";

const log = { info: () => {}, error: () => {} };

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "asyncagents-storage-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** An engine whose part in a recovery takes as long as the test wants. */
function slowMember() {
  const [begun, door] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const member: Member = {
    instance: {
      id: "ins_slow",
      pid: process.pid,
      processStart: "0",
      bootId: "boot",
      pidNamespace: "",
      beat: 0,
      machine: "",
      leaseLeft: null,
      host: "scripted",
      directory: "/work",
      startedAt: 1,
    },
    drives: () => false,
    heed: () => {},
    tell: () => {},
    verify: async () => {},
    recoverTasks: async () => true,
    recoverLaunch: async () => true,
    settleDoubts: async () => {
      begun.resolve();
      await door.promise;
      return true;
    },
  };
  return { member, begun: begun.promise, finish: door.resolve };
}

test("the store is closed after the recovery that is under way, which can still write", async () => {
  const directory = temporaryFolder();
  const held = await holdStorage(
    directory,
    log,
    readConfiguration({ directory, environment: { ASYNCAGENTS_API_ENABLED: "false" } }),
  );
  const { member, begun, finish } = slowMember();
  await held.supervisor.add(member);
  const recovering = held.supervisor.recover();
  await begun;
  const released = held.release(null);
  // Whatever closes the store at once has done so by now.
  await Bun.sleep(10);
  expect(await held.store.instances()).toHaveLength(1);
  finish();
  expect(await recovering).toBe(true);
  await released;
  const closed = await held.store.instances().catch((thrown: unknown) => thrown);
  expect(AsyncAgentsError.isInstance(closed) && closed.code).toBe("store_unavailable");
});
