/**
 * A program that starts an OpenCode process and prints its pid; its test kills it.
 */
import { startOpenCodeProcess } from "../../../src/hosts/opencode/process.ts";

const [command = ""] = process.argv.slice(2);
const { pid } = await startOpenCodeProcess(command, process.env, new AbortController().signal);
console.log(pid);
await Bun.sleep(600_000);
