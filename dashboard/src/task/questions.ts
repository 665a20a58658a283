/**
 * The questions in what a task asks: one on each line where all lines are questions, else all of it is one. Pure.
 */

export function questionsIn(text: string): string[] {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  return lines.length > 1 && lines.length <= 10 && lines.every((line) => line.endsWith("?")) ? lines : [text.trim()];
}
