import { expect, test } from "bun:test";
import { retryOf } from "../../src/hosts/opencode/wire.ts";
import { providerReturn } from "../../src/hosts/provider-return.ts";

const AT = Date.parse("2026-01-02T03:04:05Z");
const said = (headers: Record<string, string>, status = 429) => {
  const until = providerReturn({ status, headers, at: AT });
  return until === undefined ? undefined : until - AT;
};

test.each([
  [{ "retry-after": "20" }, 20_000],
  [{ "Retry-After": "1.5" }, 1_500],
  [{ "retry-after-ms": "1500", "retry-after": "2" }, 1_500],
  [{ "retry-after": "Fri, 02 Jan 2026 03:05:05 GMT" }, 60_000],
  [{ "x-ratelimit-reset": String(AT / 1000 + 90) }, 90_000],
  [{ "x-ratelimit-reset-requests": "1s", "x-ratelimit-reset-tokens": "6m0s" }, 360_000],
  [{ "x-ratelimit-reset-tokens": "250ms" }, 250],
  [
    {
      "anthropic-ratelimit-requests-reset": "2026-01-02T03:04:35Z",
      "anthropic-ratelimit-tokens-reset": "2026-01-02T03:06:05Z",
    },
    120_000,
  ],
  // What is meant for whoever was refused counts before the resets of all limits.
  [{ "retry-after": "5", "x-ratelimit-reset-tokens": "1h" }, 5_000],
])("%p is a time", (headers, ms) => {
  expect(said(headers as Record<string, string>)).toBe(ms);
});

test("other statuses, no time, and a time that has passed are none", () => {
  expect(said({ "retry-after": "20" }, 400)).toBeUndefined();
  expect(said({ "retry-after": "20" }, 503)).toBe(20_000);
  expect(providerReturn({ status: undefined, headers: { "retry-after": "20" }, at: AT })).toBeUndefined();
  for (const text of ["", "soon", "-5", "0", "Thu, 01 Jan 2026 00:00:00 GMT", "9".repeat(400)])
    expect(said({ "retry-after": text })).toBeUndefined();
});

test("OpenCode's next try is the provider's time only if OpenCode itself would not wait so long", () => {
  const retry = (attempt: number, ms: number) => retryOf({ type: "retry", attempt, message: "no", next: AT + ms }, AT);
  expect(retry(1, 2_400)).toEqual({ reason: "no", count: 1, next: AT + 2_400 });
  expect(retry(6, 76_000).until).toBeUndefined();
  expect(retry(1, 20_000).until).toBe(AT + 20_000);
  expect(retry(6, 3_600_000).until).toBe(AT + 3_600_000);
  expect(retryOf({ type: "retry" }, AT)).toEqual({ reason: "the provider failed", count: 1 });
});
