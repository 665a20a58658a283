/** Why a queued run waits, in words that say what to do: what all living runners lack that the run needs. Pure. */
import { Room } from "../../store/queue/room.ts";
import type { RunNeeds, WaitingRun } from "../../store/queue/run-queue.ts";
import type { Instance } from "../../store/store.ts";
import { DAEMON_HOST, RUNNER_HOST } from "../desk.ts";
import type { FleetRunner } from "./fleet.ts";

type AtWork = readonly (readonly [RunNeeds, number])[];

/** Null if a runner is about to begin it. */
export function waitReason(run: WaitingRun, all: readonly FleetRunner[], atWork: AtWork): string | null {
  if (run.isHeld) return "It starts after other tasks.";
  if (run.isClaimed || run.directory != null) return null;
  const living = all.filter(({ state }) => state === "running");
  const near = living.filter(({ machine }) => run.machine === null || machine === run.machine);
  if (near.length === 0) return nobody(run, all, living.length > 0);
  const hosting = near.filter(({ hosts }) => hosts.includes(run.host));
  if (hosting.length === 0) return `No runner has the host ${run.host}. ${start(run)}`;
  const able = hosting.filter(({ labels }) => run.labels.every((label) => labels.includes(label)));
  if (able.length === 0) return `No runner with the host ${run.host} has ${labelled(run)}. ${start(run)}`;
  const equipped = able.filter(({ lacks }) => !lacks.some((lack) => isNeeded(run, lack)));
  if (equipped.length === 0) return lacking(run, able);
  const limits = equipped.map((runner) => new Room(runner.limits, atWork).reached(run));
  const [limit] = limits;
  if (limit && limits.every((each) => each !== null)) return `A limit of the runners is reached: ${limit}.`;
  const full = equipped.filter(({ load, max }) => load >= max);
  const hasRoom = equipped.some(({ load, max }, index) => load < max && limits[index] === null);
  if (hasRoom) return null;
  const loads = full.slice(0, 3).map(({ hostname, load, max }) => `${hostname}: ${load} of ${max}`);
  return `All runners that can do it are busy (${loads.join(", ")}${full.length > 3 ? ", …" : ""}).`;
}

/** Why a run that is bound to a folder waits; null if it waits for a runner, or a process is about to begin it. */
export function folderReason({ directory, machine, isHeld }: WaitingRun, living: readonly Instance[]): string | null {
  if (directory == null || isHeld) return null;
  const near = living.filter((each) => each.machine === machine);
  const isOpened = near.some(({ host }) => host === DAEMON_HOST || host === RUNNER_HOST);
  if (isOpened || near.some((each) => each.directory === directory)) return null;
  const where = machine === "" || machine === null ? "" : ` on the machine ${machine}`;
  return `It starts when a program has ${directory} open${where}. Open the agent there, or run: asyncagents up`;
}

function nobody(run: WaitingRun, all: readonly FleetRunner[], hasOthers: boolean): string {
  if (run.machine === null || !hasOthers) return `No runner is running. ${start(run)}`;
  const known = all.find(({ machine }) => machine === run.machine);
  const place = known ? `${known.hostname} (${run.machine})` : run.machine;
  const only = `Only a runner on the machine ${place} can do it`;
  const state = run.bound === null ? ", and none is running there." : `: ${run.bound}. None is running there.`;
  return `${only}${state} ${start(run, " there")}`;
}

function lacking(run: WaitingRun, able: readonly FleetRunner[]): string {
  const [runner] = able;
  const lack = runner?.lacks.find((each) => isNeeded(run, each));
  const reason = run.trouble ?? `${runner?.hostname}: ${lack?.reason}`;
  return `The runners could not begin it, and try again in a few minutes. ${reason}`;
}

function isNeeded({ host, remote }: RunNeeds, { kind, name }: FleetRunner["lacks"][number]): boolean {
  return name === (kind === "host" ? host : remote);
}

function labelled({ labels }: RunNeeds): string {
  return labels.length === 1 ? `the label ${labels[0]}` : `the labels ${labels.join(", ")}`;
}

function start({ host, labels }: RunNeeds, where = ""): string {
  const wanted = labels.map((label) => ` --label ${label}`).join("");
  return `Start one${where}: asyncagents runner --hosts ${host}${wanted}`;
}
