/**
 * What a session of Claude Code was told, read from its transcript: that is what its model knows when the session is
 * continued. A claim counts as read where Claude Code itself put it into the conversation, and as taken where it waits
 * in its queue; what tools answered counts as neither. Reads the end of a large file only, and writes nothing.
 */
import { constants, open } from "node:fs/promises";
import { z } from "zod";
import { messageOf } from "../../model/errors.ts";
import { claimsIn } from "../../model/notifications/follower.ts";

/**
 * `taken`: the program has it, and its model has not read it yet. `dropped`: it left the queue, and the model did not
 * get it, for example because a person stopped all agents.
 */
export type ClaimState = "read" | "taken" | "dropped";

/**
 * What a hook tells is in the transcript in less than this, or it ended before it told it. So is what leaves the queue
 * for the conversation.
 */
const LOST_MS = 30_000;
const MOST_BYTES = 64 * 1024 * 1024;
const CHUNK = 1024 * 1024;
/** A message of 20 ends is a tenth of it. */
const MOST_LINE = 4 * 1024 * 1024;
const NEW_LINE = 10;

/** Only what is needed of a line. */
const lineSchema = z.looseObject({
  type: z.string(),
  operation: z.string().optional(),
  timestamp: z.string().optional(),
  content: z.unknown().optional(),
  message: z.looseObject({ content: z.unknown() }).optional(),
  attachment: z.looseObject({ type: z.string(), prompt: z.unknown().optional() }).optional(),
});

const textBlock = z.looseObject({ type: z.literal("text"), text: z.string() });

/** `lost`: it has to be told again. `isGone`: the program that it was told to has ended, with all that it had taken. */
export function verdictOn(
  state: ClaimState | undefined,
  { isGone, sinceMs }: { isGone: boolean; sinceMs: number },
): "read" | "lost" | "open" {
  if (state === "read") return "read";
  const isLost = state === "dropped" || (state === undefined && sinceMs >= LOST_MS);
  return isGone || isLost ? "lost" : "open";
}

/** Those of the claims that are in the transcript; none if there is no such file. */
export async function claimsOfSession(path: string, claims: readonly string[]): Promise<Map<string, ClaimState>> {
  const found = new Map<string, ClaimState>();
  const marks = claims.map((claim) => Buffer.from(claim));
  for await (const line of linesFromEnd(path)) {
    if (!marks.some((mark) => line.includes(mark))) continue;
    for (const [claim, state] of claimsOfLine(line.toString("utf8"))) {
      // The newest line about the queue counts, and none of them once it was read.
      if (claims.includes(claim) && found.get(claim) !== "read") found.set(claim, state);
    }
  }
  return found;
}

function claimsOfLine(text: string): [string, ClaimState][] {
  const line = lineSchema.safeParse(parsed(text)).data;
  if (line === undefined) return [];
  const { type, operation, content, message, attachment, timestamp = "" } = line;
  if (type === "queue-operation") {
    const isDropped = operation === "remove" && Date.parse(timestamp) <= Date.now() - LOST_MS;
    return claimsIn(textOf(content)).map((claim) => [claim, isDropped ? "dropped" : "taken"]);
  }
  const told =
    type === "user" ? message?.content : attachment?.type === "queued_command" ? attachment.prompt : undefined;
  return claimsIn(textOf(told)).map((claim) => [claim, "read"]);
}

/** Without the answers of tools, which may quote anything. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((block) => textBlock.safeParse(block).data?.text ?? "").join("\n");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (thrown) {
    // The program may be writing it, or was killed when it did.
    return messageOf(thrown);
  }
}

async function* linesFromEnd(path: string): AsyncGenerator<Buffer> {
  // Without waiting: a pipe would never open, and is left alone below. No file means that nothing was told yet.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => null);
  if (file === null) return;
  try {
    const about = await file.stat();
    if (!about.isFile()) return;
    let at = Math.max(0, about.size - MOST_BYTES);
    let rest: Buffer[] = [];
    let restBytes = 0;
    for (;;) {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(CHUNK), 0, CHUNK, at);
      if (bytesRead === 0) break;
      at += bytesRead;
      let begin = 0;
      for (let end = buffer.indexOf(NEW_LINE); end !== -1 && end < bytesRead; end = buffer.indexOf(NEW_LINE, begin)) {
        if (restBytes <= MOST_LINE) yield Buffer.concat([...rest, buffer.subarray(begin, end)]);
        [rest, restBytes, begin] = [[], 0, end + 1];
      }
      restBytes += bytesRead - begin;
      rest = restBytes <= MOST_LINE ? [...rest, buffer.subarray(begin, bytesRead)] : [];
    }
    if (restBytes > 0 && restBytes <= MOST_LINE) yield Buffer.concat(rest);
  } finally {
    await file.close();
  }
}
