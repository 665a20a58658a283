/** The MCP server. */
import { toolsetNamed } from "../../mcp/toolset.ts";
import { setting } from "../section.ts";
import { oneOf, yesOrNo } from "../value-kinds.ts";

const toolset = oneOf(["core", "extended"]);

export const mcp = {
  means: "The MCP server.",
  settings: {
    tools: setting(
      { ...toolset, fromText: (given) => toolsetNamed(given) ?? given },
      {
        means: "core: only the tools of the board; extended: all of them.",
        variable: "ASYNCAGENTS_MCP_TOOLS",
        default: "extended",
      },
    ),
    scripted: setting(yesOrNo({ trueText: "1" }), {
      means: "Whether models are offered the scripted agent. People can always use it.",
      variable: "ASYNCAGENTS_SCRIPTED",
      default: false,
    }),
  },
};
