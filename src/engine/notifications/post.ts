/**
 * Sends one request of a channel, with a limit. Redirects are not followed, and what the receiver answers is not read
 * beyond its status. Errors are described in our own words, without the address: parts of it may be secret.
 */
import type { Clock } from "../../process/clock.ts";
import type { ChannelRequest } from "./channels/channel.ts";

const LIMIT_MS = 10_000;
const LONGEST_PAUSE_MS = 3_600_000;

export type Posted =
  | { isDelivered: true }
  /** `pauseMs`: for how long the receiver asked not to be called. `isGone`: it is not there, and may never be. */
  | { isDelivered: false; reason: string; pauseMs: number; isGone: boolean };

export async function post(
  { url, headers, body }: ChannelRequest,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<Posted> {
  const limit = new AbortController();
  const cancel = clock.after(LIMIT_MS, () => limit.abort());
  try {
    const ended = AbortSignal.any([limit.signal, signal]);
    const response = await fetch(url, { method: "POST", headers, body, redirect: "manual", signal: ended });
    // Nobody reads it, and it may be endless.
    void response.body?.cancel().catch(() => {});
    return answerOf(response, clock.now());
  } catch (thrown) {
    if (signal.aborted) return failed("this process ended while it was being sent");
    if (limit.signal.aborted) return failed(`the receiver did not answer within ${LIMIT_MS / 1000} seconds`);
    return failed(`the receiver could not be reached${codeOf(thrown)}`);
  } finally {
    cancel();
  }
}

function answerOf({ status, headers }: Response, now: number): Posted {
  if (status >= 200 && status < 300) return { isDelivered: true };
  if (status >= 300 && status < 400) {
    return failed(
      `the receiver answered with a redirect (${status}), which is not followed: configure its real address`,
    );
  }
  const isGone = status === 404 || status === 410;
  return { ...failed(`the receiver answered ${status}`, pauseOf(headers.get("retry-after"), now)), isGone };
}

function failed(reason: string, pauseMs = 0): Extract<Posted, { isDelivered: false }> {
  return { isDelivered: false, reason, pauseMs, isGone: false };
}

/** In seconds, or as a date. */
function pauseOf(text: string | null, now: number): number {
  if (text === null) return 0;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), LONGEST_PAUSE_MS);
}

/** Such as `ConnectionRefused`: never the message, which may have the address in it. */
function codeOf(thrown: unknown): string {
  const { code } = thrown as { code?: unknown };
  return typeof code === "string" && /^\w{1,60}$/.test(code) ? ` (${code})` : "";
}
