/**
 * Evaluates a scripted answer: calls its functions and splits its text into the chunks to stream. Invariant: the
 * concatenated chunks are the text. Knows no wire format and sends nothing.
 */
import type { ModelRequest } from "./model-request.ts";
import { type Answer, resolve } from "./script.ts";

export interface RenderedCall {
  id: string;
  name: string;
  /** JSON. */
  arguments: string;
}

/** An answer with all its functions evaluated. */
export interface Rendered {
  pieces: string[];
  calls: RenderedCall[];
  /** How the stream breaks off after that: not at all, with its connection, or in silence. */
  cut: "no" | "broken" | "silent";
}

export function render(
  answer: Exclude<Answer, { type: "httpFailure" }>,
  request: ModelRequest,
  newCallId: () => string,
): Rendered {
  switch (answer.type) {
    case "text":
      return { pieces: split(resolve(answer.text, request), answer.chunks), calls: [], cut: "no" };
    case "toolCalls": {
      const calls = answer.calls.map(({ name, input }) => ({
        id: newCallId(),
        name,
        arguments: JSON.stringify(resolve(input, request)),
      }));
      return { pieces: split(resolve(answer.text, request), 1), calls, cut: "no" };
    }
    case "empty":
      return { pieces: [], calls: [], cut: "no" };
    case "huge":
      return {
        pieces: split("0123456789abcdef".repeat(Math.ceil(answer.bytes / 16)).slice(0, answer.bytes), 16),
        calls: [],
        cut: "no",
      };
    case "cut":
      return { pieces: split(answer.text, 1), calls: [], cut: "broken" };
    case "hang":
      return { pieces: split(answer.text, 1), calls: [], cut: "silent" };
  }
}

function split(text: string, count: number): string[] {
  const characters = Array.from(text);
  const size = Math.max(1, Math.ceil(characters.length / count));
  const pieces: string[] = [];
  for (let start = 0; start < characters.length; start += size)
    pieces.push(characters.slice(start, start + size).join(""));
  return pieces;
}

/** Breaks a stream off, if it is to be; what was written before still arrives. */
export async function cutOff({ cut }: Rendered): Promise<void> {
  if (cut === "no") return;
  // Until the client gives up, or the server stops.
  if (cut === "silent") await new Promise(() => {});
  // Without a pause the text would still be in the buffer that the error discards.
  await Bun.sleep(20);
  throw new Error("cut by the script");
}
