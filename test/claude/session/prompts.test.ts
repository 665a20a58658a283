import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { z } from "zod";
import { outputFormatOf, structuredOutput } from "../../../src/claude/session/structured-output.ts";
import { call, say } from "../../../src/testing/models/script.ts";
import { claudeBed, closeBeds, follow } from "../claude-bed.ts";

setDefaultTimeout(60_000);
afterEach(closeBeds);

/** One white pixel. */
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

test("blocks of text and images reach the model", async () => {
  const { model, open } = await claudeBed();
  model.script("main", [say("a pixel")]);
  const claude = await open();
  const result = await claude.send([
    { type: "text", text: follow("main") },
    { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } },
  ]);
  expect(result.result).toBe("a pixel");
  const body = JSON.stringify(model.requestsOf(claude.sessionId ?? "")[0]?.request.body.messages);
  expect(body).toContain('"type":"image"');
  expect(body).toContain("image/");
});

test("an empty prompt is rejected, both as a text and as a list", async () => {
  const { open } = await claudeBed();
  const claude = await open();
  for (const prompt of [" ", []]) {
    expect((await claude.send(prompt).catch((thrown) => thrown)).code).toBe("invalid_input");
    expect((await open({ prompt }).catch((thrown) => thrown)).code).toBe("invalid_input");
  }
});

test("requested JSON has the type of its schema, or the error names the field", async () => {
  const { model, open } = await claudeBed();
  const schema = z.object({ pears: z.number(), sorts: z.array(z.string()) });
  const answer = { pears: 3, sorts: ["Conference"] };
  model.script("main", [call("StructuredOutput", answer), say("done")]);
  const claude = await open({ outputFormat: outputFormatOf(schema) });
  const result = await claude.send(follow("main"));
  expect(structuredOutput(result, schema)).toEqual(answer);
  const other = () => structuredOutput(result, z.object({ pears: z.string() }));
  expect(other).toThrow("the field structured_output.pears");
  expect(() => structuredOutput({}, schema)).toThrow("the field structured_output is wrong");
});
