/**
 * The benchmark of many launches in one answer of the model, against OpenCode's own background `task`: both tools in
 * one `opencode serve`, trials in interleaved pairs. Times are taken at the model, where both sides look the same.
 */
import type { Bed } from "./bed.ts";
import { type Contender, MANY, manyAnswer, manyPrompt, REST_MS } from "./contenders.ts";
import type { Exchange } from "./stamped-model.ts";

/** Times in ms, from the last byte of the model's answer with the calls. */
export interface ManyTrial {
  /** Until the parent's next request arrives: all calls have returned. */
  launchTurn: number;
  /** Until the parent's request with the answers of all children arrives. */
  allTold: number;
}

const PATIENCE_MS = 120_000;

export async function runManyTrial({ begin, model }: Bed, contender: Contender, name: string): Promise<ManyTrial> {
  const { sessionId } = await begin(manyPrompt(contender, name));
  const answers = Array.from({ length: MANY }, (_, index) => manyAnswer(name, index));
  // A wait checks all requests every time, so each is parsed only once to keep the model fast.
  const read = new WeakSet<Exchange>();
  const told = await model.exchange((exchange) => {
    if (exchange.sessionId !== sessionId || read.has(exchange)) return false;
    read.add(exchange);
    const messages = JSON.stringify(exchange.request.messages);
    return answers.every((answer) => messages.includes(answer));
  }, PATIENCE_MS);
  const [before, launched] = await model.exchanges(sessionId, 2);
  if (!before?.answeredAt || !launched) throw new Error("The model lost requests of the parent.");
  await Bun.sleep(REST_MS);
  return { launchTurn: launched.arrivedAt - before.answeredAt, allTold: told.arrivedAt - before.answeredAt };
}
