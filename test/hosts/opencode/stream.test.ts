/** The stream of OpenCode's events, when its connection breaks. */
import { expect, onTestFinished, test } from "bun:test";
import { openCodeHost } from "../../../src/hosts/opencode/opencode-host.ts";
import { openCodeStream } from "../../../src/hosts/opencode/stream.ts";

const DIRECTORY = "/project";
const sessionID = "ses_1";
const prompt = { id: "msg_p", sessionID, role: "user", time: { created: 1 } };
const answer = { id: "msg_q", sessionID, role: "assistant", time: { created: 2, completed: 3 }, finish: "stop" };
const text = { id: "prt_q", sessionID, messageID: answer.id, type: "text", text: "the answer" };
const stored = [
  { info: prompt, parts: [] },
  { info: answer, parts: [text] },
];

test("of a prompt that is sent while the stream is broken, the answer is read from OpenCode", async () => {
  const host = openCodeHost({ send: async () => ({ status: 200, data: stored, header: () => null }) });
  const connections = Array.from({ length: 2 }, () => Promise.withResolvers<ReadableStreamDefaultController<string>>());
  let count = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response(new ReadableStream({ start: (controller) => connections[count++]?.resolve(controller) })),
  });
  const write = async (connection: number, payload: unknown) =>
    (await connections[connection]?.promise)?.enqueue(`data: ${JSON.stringify({ directory: DIRECTORY, payload })}\n\n`);
  const broken = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const stream = openCodeStream({
    url: server.url.href,
    headers: {},
    onEvent: (_directory, event) => {
      host.receive(event);
      if ((event as { type: string }).type === "session.idle") ended.resolve();
    },
    onBreak: () => {
      host.missed();
      broken.resolve();
    },
    onAgain: () => host.missed(),
  });
  onTestFinished(async () => {
    stream.stop();
    await server.stop(true);
  });
  await write(0, { type: "server.connected", properties: {} });
  await stream.connected;
  (await connections[0]?.promise)?.close();
  await broken.promise;
  await host.prompt(sessionID, { messageId: prompt.id, text: "go", agent: "build", model: null });
  // The events of the prompt and of the text are lost. OpenCode adds a summary to the prompt before the answer ends.
  await write(1, { type: "server.connected", properties: {} });
  await write(1, { type: "message.updated", properties: { info: { ...prompt, summary: { diffs: [] } } } });
  await write(1, { type: "message.updated", properties: { info: answer } });
  await write(1, { type: "session.idle", properties: { sessionID } });
  await ended.promise;
  expect((await host.inspect(sessionID, prompt.id)).answer).toEqual({ text: "the answer" });
});
