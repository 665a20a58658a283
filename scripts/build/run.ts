/** Runs a program of the build in the repository; throws with all that it printed where it fails. */
import { dirname } from "node:path";

const root = dirname(dirname(import.meta.dir));

export async function run(command: string[], cwd = root): Promise<string> {
  // A test runner sets NODE_ENV to "test", with which Vite would build the dashboard for development.
  const env = { ...process.env, NODE_ENV: "production" };
  const child = Bun.spawn(command, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const [out, errors, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}:\n${out}${errors}`);
  return out;
}
