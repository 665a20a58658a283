/** The daemon's door to other machines. What its settings mean is in `src/http/listen-settings.ts`. */
import { isListenAddress, isProxyAddress, isPublicUrl } from "../../http/listen-settings.ts";
import { optional, setting } from "../section.ts";
import { listOf, text } from "../value-kinds.ts";

const proxy = text("an IP address", isProxyAddress);
const url = text("an address", isPublicUrl);

export const listen = {
  means: "The daemon's door to other machines, with tokens.",
  settings: {
    address: optional(
      text(
        "an IP address of this machine, with or without a port, such as 0.0.0.0 or 192.168.1.5:8080",
        isListenAddress,
      ),
      {
        means: "The address to listen on.",
        variable: "ASYNCAGENTS_LISTEN",
        otherwise: "no such door",
      },
    ),
    publicUrls: setting(listOf(url, "a list of addresses without a path, such as https://agents.example.org"), {
      means: "The addresses that browsers use for that door. Host names that are not listed are refused.",
      variable: "ASYNCAGENTS_PUBLIC_URL",
      default: [],
    }),
    trustedProxies: setting(listOf(proxy, "a list of IP addresses, such as 127.0.0.1"), {
      means: "Proxies whose X-Forwarded-For is believed.",
      variable: "ASYNCAGENTS_TRUSTED_PROXY",
      default: [],
    }),
  },
};
