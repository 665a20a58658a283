/** A transcript is bounded, whatever its agent does. */
import { expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { TranscriptFiles } from "../../../src/hosts/acp/transcript-files.ts";
import type { AcpIdentity, TranscriptLine } from "../../../src/hosts/acp/transcript-lines.ts";
import { temporaryFolders } from "../../store/temporary-folder.ts";

const LIMIT = 10_000;
const makeFolder = temporaryFolders();
const identity: AcpIdentity = {
  parentSessionId: "p",
  agent: "a",
  title: "t",
  model: null,
  launchId: "l",
  denyTools: [],
  at: 1,
};
const of = { messageId: "m", at: 1 };
const sent: Extract<TranscriptLine, { messageId: string }>[] = [
  { type: "update", ...of, update: { sessionUpdate: "agent_message_chunk" } },
  { type: "asked", ...of, requestId: "r", callId: null, tool: "bash", text: "May I?" },
  { type: "answered", ...of, requestId: "r", reply: null, message: null },
  { type: "unasked", ...of, callId: null, tool: "bash", why: "nobody was asked" },
];

test.each(sent)("an agent that causes $type without end does not fill the disk", async (line) => {
  const folder = makeFolder();
  const transcripts = new TranscriptFiles(folder, LIMIT);
  await transcripts.create("s", identity);
  let kept = 0;
  for (let count = 0; count < 1_000; count++) if (transcripts.note("s", line)) kept++;
  await transcripts.settle("s");
  expect(kept).toBeGreaterThan(0);
  const lines = await transcripts.read("s");
  expect(lines.map(({ type }) => type)).toEqual(["session", ...Array(kept).fill(line.type), "full"]);
  expect(statSync(join(folder, "sessions", "s.jsonl")).size).toBeLessThan(LIMIT + 500);
});

test("what a disk took only in part is in the transcript once, when there is room again", async () => {
  // Files of at most 4 KB, and a write beyond that fails as on a full disk.
  const limited = 'trap \'\' XFSZ; ulimit -S -f 4; exec "$0" "$@"';
  const script = join(import.meta.dir, "full-transcript.ts");
  const child = Bun.spawn(["bash", "-c", limited, process.execPath, script, makeFolder()], { stdout: "pipe" });
  expect((await new Response(child.stdout).text()).trim()).toBe("abcdefghi");
});
