/**
 * How a request of a task was answered and from where: plain data, and its wording for people. Who may answer is
 * decided elsewhere.
 */

export const REPLIES = ["allowed once", "always allowed", "rejected", "answered", "turned down"] as const;
export type ReplyWord = (typeof REPLIES)[number];

/** `model`: an agent over MCP; `host`: the agent's own program, such as OpenCode's screen. */
export const ANSWERERS = ["dashboard", "command line", "api", "model", "host"] as const;
export type Answerer = (typeof ANSWERERS)[number];

export interface GivenAnswer {
  reply: ReplyWord;
  by: Answerer;
}

const PLACES: Record<Answerer, string> = {
  dashboard: "from the dashboard",
  "command line": "from the command line",
  api: "over the API",
  model: "by an agent over MCP",
  host: "in the agent's own program",
};

/** For example: "allowed once, from the command line". */
export function givenText({ reply, by }: GivenAnswer): string {
  return `${reply}, ${PLACES[by]}`;
}
