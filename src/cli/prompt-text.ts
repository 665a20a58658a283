/** A prompt as it was given: in words, or from stdin where it is `-`. Bounded, because a pipe may never end. */
import { AsyncAgentsError } from "../model/errors.ts";
import { oneLine } from "./text.ts";

const MAX_BYTES = 1_000_000;
const TITLE_CHARS = 80;

export async function promptText(given: string): Promise<string> {
  const text = given === "-" ? await readStdin() : given;
  if (text.trim() !== "") return text;
  throw new AsyncAgentsError("invalid_input", "The prompt is empty. Say what is to be done.");
}

async function readStdin(): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of Bun.stdin.stream()) {
    size += chunk.byteLength;
    if (size > MAX_BYTES)
      throw new AsyncAgentsError("too_large", "The prompt is too long. Put the text into a file and name it.");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** What a prompt is about: its first line. */
export function titleOf(prompt: string): string {
  const line = oneLine(prompt.trim().split("\n")[0] ?? "");
  return line.length <= TITLE_CHARS ? line : `${line.slice(0, TITLE_CHARS - 1).trimEnd()}…`;
}
