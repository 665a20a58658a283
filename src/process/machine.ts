/**
 * The identity of a machine, for processes that share a store over the network: sessions, worktrees and programs are on
 * one machine, whoever reads about them elsewhere. It is kept in the data folder, so it survives a reboot and a new
 * host name; a data folder that is copied to another machine must be copied without it. An empty identity is that of a
 * store which only one machine can use.
 */
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AsyncAgentsError, messageOf } from "../model/errors.ts";
import { makeId } from "./make-id.ts";

const FILE = "machine";
const ID = /^mac_[0-9a-f]{32}$/;

/** Whether what is on one is within reach of the other. An unknown machine may be any. */
export function isSameMachine(one: string, other: string): boolean {
  return one === other || one === "" || other === "";
}

/** Reads the identity of the data folder, or makes one. Processes that do so at the same time get the same. */
export function machineOf(directory: string): string {
  const file = join(directory, FILE);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    return readId(file) ?? makeIdIn(file);
  } catch (thrown) {
    if (AsyncAgentsError.isInstance(thrown)) throw thrown;
    throw unusable(file, messageOf(thrown));
  }
}

function readId(file: string): string | null {
  let text: string;
  try {
    text = readFileSync(file, "utf8").trim();
  } catch (thrown) {
    if ((thrown as { code?: unknown }).code === "ENOENT") return null;
    throw thrown;
  }
  if (!ID.test(text)) throw unusable(file, "it holds no identity");
  return text;
}

/** Whole or not at all, and never in place of another one. */
function makeIdIn(file: string): string {
  const temporary = `${file}.${makeId("tmp")}`;
  writeFileSync(temporary, `${makeId("mac")}\n`, { mode: 0o600, flag: "wx" });
  try {
    linkSync(temporary, file);
  } catch (thrown) {
    if ((thrown as { code?: unknown }).code !== "EEXIST") throw thrown;
  } finally {
    rmSync(temporary, { force: true });
  }
  const made = readId(file);
  if (made === null) throw unusable(file, "it was removed");
  return made;
}

function unusable(file: string, why: string): AsyncAgentsError {
  const message = `The identity of this machine cannot be read from ${file}: ${why}. Delete the file if it is damaged: a new one is made, and tasks that ran under the old one cannot be resumed.`;
  return new AsyncAgentsError("store_unavailable", message);
}
