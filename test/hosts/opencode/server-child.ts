/**
 * A program that starts an OpenCode process and prints its pid; its test kills it.
 */
import { startOpenCodeProcess } from "../../../src/hosts/opencode/process.ts";

const [program = "", folder = ""] = process.argv.slice(2);
const { signal: stopping } = new AbortController();
const { pid } = await startOpenCodeProcess({ program, environment: process.env, folder, stopping });
console.log(pid);
await Bun.sleep(600_000);
