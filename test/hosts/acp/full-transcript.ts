/**
 * Run by transcript-files.test.ts with a small limit for the size of files: writes more into a transcript, then gets
 * room again, and prints what the transcript says.
 */
import { TranscriptFiles } from "../../../src/hosts/acp/transcript-files.ts";

const files = new TranscriptFiles(process.argv[2] ?? "");
const session = { parentSessionId: "", agent: "a", title: "t", model: null, launchId: "l", denyTools: [], at: 1 };
await files.create("s", session);
await files.store("s", { type: "prompted", messageId: "m", at: 2, text: "go" });
const note = (text: string) => files.note("s", { type: "told", messageId: "m", at: 3, text });
for (const letter of "abcdefgh") note(letter.repeat(600));
await files.settle("s");
Bun.spawnSync(["prlimit", "--pid", String(process.pid), "--fsize=unlimited:unlimited"]);
note("i");
await files.settle("s");
const told = (await files.read("s")).filter((line) => line.type === "told");
console.log(told.map(({ text }) => text[0]).join(""));
