/**
 * How a request of a task was answered and from where: plain data, and its wording for people. Who may answer is
 * decided elsewhere.
 */

import { asLine } from "./text/foreign-text.ts";

export const REPLIES = ["allowed once", "always allowed", "rejected", "answered", "turned down"] as const;
export type ReplyWord = (typeof REPLIES)[number];

/** Where people see requests and answer them. */
export const DOORS = ["dashboard", "command line", "panel", "api"] as const;
export type Door = (typeof DOORS)[number];

/** `model`: an agent over MCP; `host`: the agent's own program, such as OpenCode's screen; `policy`: a written rule. */
export const ANSWERERS = [...DOORS, "model", "host", "policy"] as const;
export type Answerer = (typeof ANSWERERS)[number];

export interface GivenAnswer {
  reply: ReplyWord;
  by: Answerer;
  /** The name of the token that it came with; absent for the user of this machine. */
  who?: string;
  /** The beginning of what was asked, and of what was answered or told with a rejection; absent if unknown. */
  asked?: string;
  text?: string;
}

const ASKED_CHARS = 300;
const TEXT_CHARS = 500;

/** What is kept of a request and of the text of its answer. */
export function keptTexts(asked: string, text: string | null): Pick<GivenAnswer, "asked" | "text"> {
  return { asked: asked.slice(0, ASKED_CHARS), ...(text ? { text: text.slice(0, TEXT_CHARS) } : {}) };
}

const PLACES: Record<Answerer, string> = {
  dashboard: "from the dashboard",
  "command line": "from the command line",
  panel: "from the panel in OpenCode",
  api: "over the API",
  model: "by an agent over MCP",
  host: "in the agent's own program",
  policy: "by a policy",
};

/** For example: "allowed once, from the command line", or `answered "PostgreSQL", from the dashboard by anna`. */
export function givenText({ reply, by, who, text }: GivenAnswer): string {
  const words = text === undefined ? "" : ` "${asLine(text, TEXT_CHARS)}"`;
  return `${reply}${words}, ${PLACES[by]}${who === undefined ? "" : ` by ${who}`}`;
}
