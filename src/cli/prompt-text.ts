/** A prompt exactly as given, byte for byte: as words, or from stdin for `-`. Bounded, because a pipe may never end. */
import { AsyncAgentsError } from "../model/errors.ts";

const MAX_BYTES = 1_000_000;
const TITLE_CHARS = 80;

export async function promptText(given: string): Promise<string> {
  const text = given === "-" ? await readStdin() : given;
  if (text.trim() !== "") return text;
  throw new AsyncAgentsError("invalid_input", "The prompt is empty. Say what to do.");
}

async function readStdin(): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of Bun.stdin.stream()) {
    size += chunk.byteLength;
    if (size > MAX_BYTES)
      throw new AsyncAgentsError(
        "too_large",
        "The prompt is too long. Put the text into a file and name the file in the prompt.",
      );
    chunks.push(chunk);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
  } catch (cause) {
    throw new AsyncAgentsError(
      "invalid_input",
      "The prompt is not UTF-8 text. Put it into a file and name the file in the prompt.",
      {
        cause,
      },
    );
  }
}

/** A prompt's description: its first line. */
export function titleOf(prompt: string): string {
  const line = (prompt.trim().split("\n")[0] ?? "").replaceAll(/\s+/g, " ").trim();
  return line.length <= TITLE_CHARS ? line : `${line.slice(0, TITLE_CHARS - 1).trimEnd()}…`;
}
