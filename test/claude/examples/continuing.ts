import { isSuccess, type Task } from "../../../src/claude/index.ts";

export async function askAgain(task: Task, question: string): Promise<string> {
  const first = await task.wait();
  if (!isSuccess(first)) return first.summary;
  await task.resume(question);
  return (await task.wait()).summary;
}
