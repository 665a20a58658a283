/**
 * One trial: a fresh parent session launches one background task, falls idle, and is told of its end. Times are taken at
 * the model, where both sides look the same; the call itself is timed by OpenCode.
 */
import type { OpenCode } from "../src/testing/opencode-harness.ts";
import { CHILD_ANSWER, type Contender, childPrompt, parentPrompt, REST_MS } from "./contenders.ts";
import type { Exchange, StampedModel } from "./stamped-model.ts";

export interface Bed {
  opencode: OpenCode;
  model: StampedModel;
}

/** Times in ms. */
export interface Trial {
  /** From the start of the tool call to its result, by OpenCode's clock, in whole ms. */
  launchCall: number;
  /** From the end of the model's answer with the call to the arrival of the parent's next request. */
  launchPath: number;
  /** From the end of the child's answer to the arrival of the parent's request that holds it. */
  told: number;
  /** The parent's requests: before the launch, after it, and with the notice. */
  requests: Exchange[];
}

export async function runTrial({ opencode, model }: Bed, contender: Contender, name: string): Promise<Trial> {
  const { id } = await opencode.createSession({ title: `${contender.label}: ${name}` });
  const started = opencode.events.length;
  await opencode.promptAsync(id, parentPrompt(contender, name));
  const [before, launched] = await model.exchanges(id, 2);
  const child = await model.exchangeWith(childPrompt(name));
  await untilIdle(opencode, id, started);
  await Bun.sleep(REST_MS);
  const ending = opencode.events.length;
  model.gate(child.sessionId).open();
  const requests = await model.exchanges(id, 3);
  const told = requests[2];
  if (!before || !launched || !told) throw new Error("The model lost requests of the parent.");
  if (!JSON.stringify(told.request.messages).includes(CHILD_ANSWER.trim())) {
    throw new Error(`${contender.label} woke the parent without the child's answer.`);
  }
  await untilIdle(opencode, id, ending);
  const launchCall = await callTime(opencode, id, contender);
  await Bun.sleep(REST_MS);
  return {
    launchCall,
    launchPath: launched.arrivedAt - answered(before),
    told: told.arrivedAt - answered(child),
    requests,
  };
}

/** By the event, not by asking: a request would be felt in what is timed next. */
async function untilIdle(opencode: OpenCode, id: string, from: number): Promise<void> {
  await opencode.waitForEventOf("session.idle", ({ sessionID }) => sessionID === id, { from });
}

function answered({ answeredAt, sessionId }: Exchange): number {
  if (answeredAt === null) throw new Error(`The answer to ${sessionId} was not yet sent.`);
  return answeredAt;
}

async function callTime(opencode: OpenCode, sessionId: string, contender: Contender): Promise<number> {
  const parts = (await opencode.messages(sessionId)).flatMap((message) => message.parts);
  for (const part of parts) {
    if (part.type !== "tool" || part.tool !== contender.tool) continue;
    if (part.state.status !== "completed") break;
    return part.state.time.end - part.state.time.start;
  }
  throw new Error(`${contender.tool} did not complete in ${sessionId}.`);
}
