/** The status API and the dashboard, for this machine. The server is in `src/http/server.ts`. */
import { setting } from "../section.ts";
import { listOf, text, wholeNumber, yesOrNo } from "../value-kinds.ts";

const origin = text("an origin", (given) => /^[a-z][a-z0-9+.-]*:\/\/[^/\s]+$/i.test(given));

export const api = {
  means: "The status API and the dashboard, for this machine.",
  settings: {
    enabled: setting(yesOrNo({ falseText: "false" }), {
      means: "Whether OpenCode with the plugin serves them. The daemon always does.",
      variable: "ASYNCAGENTS_API_ENABLED",
      default: true,
    }),
    port: setting(wholeNumber({ min: 0, max: 65_535 }), {
      means: "The first port to try; 0 for any.",
      variable: "ASYNCAGENTS_API_PORT",
      default: 5165,
    }),
    origins: setting(
      {
        ...listOf(origin, "a list of origins, such as https://pages.example.org"),
        fromText: (given) => given.split(",").flatMap((each) => each.trim().replace(/\/+$/, "") || []),
      },
      {
        means: "Additional origins whose pages may read, besides those of this machine.",
        variable: "ASYNCAGENTS_API_ORIGINS",
        default: [],
      },
    ),
  },
};
