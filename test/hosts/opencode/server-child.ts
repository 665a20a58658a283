/** A program that owns a process of OpenCode, says its pid, and is killed by its test. */
import { startOpenCodeProcess } from "../../../src/hosts/opencode/process.ts";

const [command = ""] = process.argv.slice(2);
const { pid } = await startOpenCodeProcess(command, process.env, new AbortController().signal);
console.log(pid);
await Bun.sleep(600_000);
