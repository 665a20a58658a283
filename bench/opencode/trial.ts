/**
 * One trial: a fresh parent session launches one background task, ends its turn, and is notified of the task's end.
 * Times are taken at the model, where both sides look the same; OpenCode times the call itself.
 */
import type { Bed } from "./bed.ts";
import { CHILD_ANSWER, type Contender, childPrompt, parentPrompt, REST_MS } from "./contenders.ts";
import type { Exchange } from "./stamped-model.ts";

/** Times in ms. */
export interface Trial {
  /** From the start of the tool call to its result, by OpenCode's clock, in whole ms. */
  launchCall: number;
  /** From the end of the model's answer with the call until the parent's next request arrives. */
  launchPath: number;
  /** From the end of the child's answer until the parent's request with it arrives. */
  told: number;
  /** The parent's requests: before the launch, after it, and with the notice. */
  requests: Exchange[];
}

/** How many answers the parent's model has given once it has launched, and once it has been notified. */
const LAUNCHED = 2;
const TOLD = 3;

export async function runTrial({ begin, model, stored }: Bed, contender: Contender, name: string): Promise<Trial> {
  const { sessionId } = await begin(parentPrompt(contender, name));
  const child = await model.exchangeWith(childPrompt(name));
  await stored.answers(sessionId, LAUNCHED);
  await Bun.sleep(REST_MS);
  model.gate(child.sessionId).open();
  const requests = await model.exchanges(sessionId, TOLD);
  const [before, launched, told] = requests;
  if (!before || !launched || !told) throw new Error("The model lost requests of the parent.");
  if (!JSON.stringify(told.request.messages).includes(CHILD_ANSWER.trim())) {
    throw new Error(`${contender.label} woke the parent without the child's answer.`);
  }
  await stored.answers(sessionId, TOLD);
  await Bun.sleep(REST_MS);
  return {
    launchCall: stored.callTime(sessionId, contender.tool),
    launchPath: launched.arrivedAt - answered(before),
    told: told.arrivedAt - answered(child),
    requests,
  };
}

function answered({ answeredAt, sessionId }: Exchange): number {
  if (answeredAt === null) throw new Error(`The answer to ${sessionId} was not yet sent.`);
  return answeredAt;
}
