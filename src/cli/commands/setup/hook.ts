/**
 * `hook`: what the plugin of Claude Code runs at its events. Waits until something ends that the session launched, and
 * tells it by ending with code 2: Claude Code then shows stderr to the model. Any other end is silent: whatever fails
 * here must never disturb a session. When the session ends, so does this, wherever it is: what was claimed and is not
 * in the session's transcript is told again.
 */
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import { claimsIn } from "../../../model/notifications/follower.ts";
import { identityOf, isAlive, type ProcessIdentity } from "../../../process/liveness.ts";
import { DEPTH_VARIABLE, readDepth } from "../../../protocol/call-origin.ts";
import type { CallOperation, OperationInput, OperationOutput } from "../../../protocol/operations.ts";
import type { Command, Invocation } from "../../command.ts";
import { daemonPoll } from "../../daemon-call.ts";
import { EXIT } from "../../exit-codes.ts";
import { claimsOfSession, verdictOn } from "../../setup/session-claims.ts";

const EVENTS = ["launch", "start", "prompt"] as const;
type HookEvent = (typeof EVENTS)[number];

/** Tells Claude Code to show stderr to the model. */
const WAKE = 2;
const WAIT_MS = 10_000;
/** While the daemon is away. */
const AGAIN_MS = 1_000;
const MOST_INPUT = 4_000_000;

/** Only what is needed of what Claude Code sends. */
const inputSchema = z.looseObject({
  session_id: z.string().min(1).max(100),
  transcript_path: z.string().max(4_000).optional(),
  tool_use_id: z.string().max(200).optional(),
  tool_response: z.unknown().optional(),
  prompt: z.string().optional(),
});

type HookInput = z.infer<typeof inputSchema>;

export const hookCommand: Command = {
  name: "hook",
  hidden: true,
  summary: "for the plugin of Claude Code: tells a session what ended",
  operands: [{ name: "event", shown: EVENTS.join("|"), completes: EVENTS }],
  ownsSignals: true,
  async run(invocation) {
    const event = EVENTS.find((each) => each === invocation.arguments.operand(0));
    const input = await readInput();
    if (event === undefined || input === null) return EXIT.ok;
    const { directory, environment } = invocation;
    const origin = { door: "model", depth: readDepth(environment[DEPTH_VARIABLE] ?? "") } as const;
    const call = daemonPoll(directory, origin);
    if (event === "prompt") await noteRead(call, input.prompt ?? "");
    return waitForEnds(invocation, call, { event, input });
  },
};

async function readInput(): Promise<HookInput | null> {
  try {
    const text = await Bun.stdin.text();
    if (text.length > MOST_INPUT) return null;
    return inputSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** Ends that the session reads with this prompt need not be told again. */
async function noteRead(call: CallOperation, prompt: string): Promise<void> {
  for (const claim of claimsIn(prompt)) await call("hear_ends", { claim }).catch(() => {});
}

async function waitForEnds(
  { screen, environment }: Invocation,
  call: CallOperation,
  { event, input }: { event: HookEvent; input: HookInput },
): Promise<number> {
  const claude = claudeProcess(environment);
  const asked = {
    session: input.session_id,
    event,
    ...(claude && { process: processText(claude) }),
  };
  let more: Partial<OperationInput<"next_ends">> = launchOf(event, input);
  const begin = performance.now();
  for (;;) {
    // It was killed: nobody would read what is told here.
    const isOrphan = () => claude !== null && !isAlive(claude);
    if (isOrphan()) return EXIT.ok;
    try {
      const waited_ms = Math.round(performance.now() - begin);
      const answer = await call("next_ends", { ...asked, ...more, waited_ms, wait_ms: WAIT_MS });
      const { claim, text, waits } = answer;
      if (claim !== null && isOrphan()) {
        await call("hear_ends", { claim, unread: true });
        return EXIT.ok;
      }
      if (claim !== null) {
        screen.hint(text);
        return WAKE;
      }
      if (!waits) return EXIT.ok;
      await settleClaims(call, { event, input }, answer.unread);
      more = { again: true };
    } catch {
      if (event === "prompt") return EXIT.ok;
      await pause(AGAIN_MS);
    }
  }
}

/** The session's transcript decides about what was claimed for it before, by hooks that may have ended since. */
async function settleClaims(
  call: CallOperation,
  { event, input: { transcript_path } }: { event: HookEvent; input: HookInput },
  unread: OperationOutput<"next_ends">["unread"],
): Promise<void> {
  if (unread.length === 0 || transcript_path === undefined) return;
  const known = await claimsOfSession(
    transcript_path,
    unread.map(({ claim }) => claim),
  );
  for (const { claim, process, since_ms } of unread) {
    const isGone = process === null ? event === "start" : !isThere(process);
    const verdict = verdictOn(known.get(claim), { isGone, sinceMs: since_ms });
    if (verdict !== "open") await call("hear_ends", { claim, ...(verdict === "lost" && { unread: true }) });
  }
}

function processText({ pid, processStart, bootId }: ProcessIdentity): string {
  return `${pid}|${processStart}|${bootId}`;
}

function isThere(process: string): boolean {
  const [pid, processStart = "", bootId = ""] = process.split("|");
  return isAlive({ pid: Number(pid), processStart, bootId, pidNamespace: "" });
}

/** Null if Claude Code does not say which process it is. */
function claudeProcess({ CLAUDE_PID }: Invocation["environment"]): ProcessIdentity | null {
  return CLAUDE_PID !== undefined && /^\d{1,10}$/.test(CLAUDE_PID) ? identityOf(Number(CLAUDE_PID)) : null;
}

/** The call that was made, and the handles in its answer, for clients that do not name their calls to the server. */
function launchOf(event: HookEvent, { tool_use_id, tool_response }: HookInput) {
  if (event !== "launch") return {};
  const answer = JSON.stringify(tool_response ?? "").replaceAll("\\", "");
  const found = [...answer.matchAll(/\b(?:handle|attempt_id|server-side task)\W{1,6}([\w-]{8,80})/g)];
  const handles = [...new Set(found.map(([, handle = ""]) => handle))].slice(0, 20);
  return { handles, ...(tool_use_id !== undefined && { call: tool_use_id }) };
}
