/**
 * Several questions of an agent in one text, and found again in it, so that every door can take an answer to each.
 * Several are numbered, one per line; a single one stays as it is. Pure.
 */

export function questionsText(questions: readonly string[]): string {
  if (questions.length < 2) return questions[0] ?? "";
  return questions
    .map((question, index) => `${index + 1}. ${question.replaceAll(/\s+/g, " ").trim()}`.trim())
    .join("\n");
}

/** A text whose lines are not numbered is one question. */
export function questionsIn(text: string): string[] {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const areNumbered = lines.every((line, index) => line.startsWith(`${index + 1}.`));
  return lines.length > 1 && areNumbered ? lines : [text.trim()];
}
