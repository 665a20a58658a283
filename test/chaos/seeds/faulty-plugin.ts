/**
 * The real plugin in a world as unreliable as the simulator's: with the seed's odds, OpenCode's events about sessions
 * get lost, come twice or late, and calls to it fail, fail after their effect, arrive late, are slow, or leave out busy
 * sessions. Only while the file `stormFile` exists, which names the seed.
 */
import { existsSync, readFileSync } from "node:fs";
import type { Plugin } from "@opencode-ai/plugin";
import { Random } from "../../../simulation/time/random.ts";
import { Faults } from "../../../simulation/world/faults.ts";
import { createPlugin } from "../../../src/opencode/plugin.ts";

const TIMEOUT_MS = 30_000;
const LATE_MS = 150_000;
const LATE_EVENT_MS = 10_000;
/** Calls that may arrive long after they failed: they open a session or give it a message. */
const LATE_CALLS = /^\/session(\/\{\w+\}\/(fork|message|prompt_async))?$/;

/**
 * What agents write. The plugin reads a run's answer from these events, which OpenCode hands over in its own process
 * and in order; the simulator loses only what is derived from them.
 */
const CONTENT = /^message\./;

interface Call {
  method: string;
  url: string;
}
interface Answer {
  data?: unknown;
  error?: unknown;
  response?: Response;
}
type Send = (call: Call) => Promise<Answer>;

interface Odds {
  faults: Faults;
  delays: Random;
  shorter: number;
}

const faulty: Plugin = async (input, options) => {
  const { stormFile, ...rest } = options ?? {};
  let storm: Odds | null = null;
  const odds = () => {
    if (!existsSync(String(stormFile))) return null;
    storm ??= oddsOf(JSON.parse(readFileSync(String(stormFile), "utf8")));
    return storm;
  };
  const { _client: real } = input.client as unknown as { _client: { request: Send } };
  const request: Send = (call) => {
    const now = odds();
    return now ? unreliable((again) => real.request(again), now, call) : real.request(call);
  };
  const client = { _client: { request } } as unknown as typeof input.client;
  const hooks = await createPlugin({ ...input, client }, rest);
  return {
    ...hooks,
    event: async (given) => {
      const now = odds();
      if (!now || CONTENT.test(given.event.type)) return hooks.event?.(given);
      const { faults, delays, shorter } = now;
      if (faults.happens("event is lost")) return;
      if (faults.happens("event comes twice")) await hooks.event?.(given);
      if (faults.happens("event comes late")) await Bun.sleep(delays.whole(100, LATE_EVENT_MS) / shorter);
      await hooks.event?.(given);
    },
  };
};

function oddsOf({ seed, shorter }: { seed: number; shorter: number }): Odds {
  const random = new Random(seed);
  return { faults: new Faults(random, new Set()), delays: random.split(String(process.pid)), shorter };
}

async function unreliable(send: Send, { faults, delays, shorter }: Odds, call: Call): Promise<Answer> {
  const inTime = () => Bun.sleep(delays.whole(10, TIMEOUT_MS) / shorter);
  if (faults.happens("call fails")) {
    await inTime();
    throw new Error("the request was lost");
  }
  if (call.method === "POST" && LATE_CALLS.test(call.url) && faults.happens("call fails and arrives late")) {
    setTimeout(() => void send(call).catch(() => {}), delays.whole(1_000, LATE_MS) / shorter);
    await inTime();
    throw new Error("the time for it ran out");
  }
  if (faults.happens("call is slow")) await inTime();
  const answer = await send(call);
  if (faults.happens("call fails after its effect")) throw new Error("the response was lost");
  if (call.url === "/session/status" && faults.happens("status lies")) return withoutSome(answer, delays);
  return answer;
}

function withoutSome(answer: Answer, delays: Random): Answer {
  const kept = Object.entries(answer.data ?? {}).filter(() => delays.chance(0.5));
  return { ...answer, data: Object.fromEntries(kept) };
}

export default faulty;
