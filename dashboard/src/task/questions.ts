/**
 * The questions in a task's request: one per line if all lines are questions, otherwise the whole text is one. Pure.
 */

export function questionsIn(text: string): string[] {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  return lines.length > 1 && lines.length <= 10 && lines.every((line) => line.endsWith("?")) ? lines : [text.trim()];
}
