/** Runs a program of the build in the repository; throws with all that it printed where it fails. */
import { dirname } from "node:path";
import { programOutput } from "../program-output.ts";

const root = dirname(dirname(import.meta.dir));

export async function run(command: string[], cwd = root): Promise<string> {
  // A test runner sets NODE_ENV to "test", with which Vite would build the dashboard for development.
  const env = { ...process.env, NODE_ENV: "production" };
  const { out, err, code } = await programOutput(command, { cwd, env });
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}:\n${out}${err}`);
  return out;
}
