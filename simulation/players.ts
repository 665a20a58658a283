/** Plays seeds in this process or in several at once, and hands on each as soon as it was played. */

import { join } from "node:path";
import { streamLines } from "../src/process/stream-lines.ts";
import { type PlayedSeed, type PlayerTask, playSeeds } from "./player.ts";

const PLAYER = join(import.meta.dir, "player.ts");

/** Ends early if `onPlayed` returns false. With several jobs, the seeds come in almost any order. */
export async function playAll(
  task: Omit<PlayerTask, "step">,
  jobs: number,
  onPlayed: (played: PlayedSeed) => boolean,
): Promise<void> {
  if (jobs === 1) {
    for await (const played of playSeeds({ ...task, step: 1 })) if (!onPlayed(played)) return;
    return;
  }
  const players = Array.from({ length: jobs }, (_, index) => {
    const own: PlayerTask = { ...task, from: task.from + index, step: jobs };
    return Bun.spawn([process.execPath, PLAYER], {
      stdin: new Blob([JSON.stringify(own)]),
      stdout: "pipe",
      stderr: "inherit",
    });
  });
  const stop = () => {
    for (const player of players) player.kill();
  };
  let isStopped = false;
  try {
    await Promise.all(
      players.map(async (player) => {
        for await (const line of streamLines(player.stdout)) {
          if (isStopped) return;
          isStopped = !onPlayed(JSON.parse(line));
          if (isStopped) stop();
        }
        const code = await player.exited;
        if (code === 0 || isStopped) return;
        throw new Error(`A process that plays seeds ended early (${player.signalCode ?? `exit code ${code}`}).`);
      }),
    );
  } finally {
    stop();
  }
}
