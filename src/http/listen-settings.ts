/**
 * The settings of the door to other machines, from the environment. Unlike other settings, an invalid one is an error:
 * a door must not open elsewhere, or for others, than it was meant to.
 */
import { isIP, isIPv6 } from "node:net";
import { AsyncAgentsError } from "../model/errors.ts";

const DEFAULT_PORT = 5265;

export interface ListenSettings {
  /** An IP address of this machine, or 0.0.0.0 or :: for all of them. */
  address: string;
  port: number;
  publicUrls: string[];
  /** The addresses of proxies whose X-Forwarded-For is trusted. */
  proxies: string[];
}

/** Null if the door is not wanted. Throws `invalid_input`. */
export function listenSettings(environment: Readonly<Record<string, string | undefined>>): ListenSettings | null {
  const text = environment.ASYNCAGENTS_LISTEN?.trim() ?? "";
  if (text === "") return null;
  return {
    ...placeOf(text),
    publicUrls: listOf(environment.ASYNCAGENTS_PUBLIC_URL).map(originOf),
    proxies: listOf(environment.ASYNCAGENTS_TRUSTED_PROXY).map(proxyOf),
  };
}

/** For people: `http://0.0.0.0:5265`. */
export function listenUrl({ address, port }: Pick<ListenSettings, "address" | "port">): string {
  return `http://${isIPv6(address) ? `[${address}]` : address}:${port}`;
}

/** `1.2.3.4`, `1.2.3.4:80`, `::1`, `[::1]`, `[::1]:80`. */
function placeOf(text: string): Pick<ListenSettings, "address" | "port"> {
  if (isIPv6(text)) return { address: text, port: DEFAULT_PORT };
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const address = bracketed ?? plain ?? "";
  const port = digits === undefined ? DEFAULT_PORT : Number(digits);
  if (isIP(address) !== 0 && port <= 65_535) return { address, port };
  const examples = "0.0.0.0 (all addresses), 192.168.1.5:8080, [::]:8080";
  throw invalid(
    `--listen takes an IP address of this machine, with or without a port, not "${text.slice(0, 60)}"`,
    examples,
  );
}

function originOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isPlain =
    url !== null && /^https?:$/.test(url.protocol) && url.pathname === "/" && `${url.search}${url.hash}` === "";
  if (isPlain && url.username === "" && url.password === "") return url.origin;
  throw invalid(
    "--public-url takes the address that browsers use, without a path and without a password",
    "https://agents.example.org",
  );
}

function proxyOf(text: string): string {
  if (isIP(text) !== 0) return text;
  throw invalid(`ASYNCAGENTS_TRUSTED_PROXY takes IP addresses, not "${text.slice(0, 60)}"`, "127.0.0.1");
}

function listOf(text = ""): string[] {
  return text
    .split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "");
}

function invalid(problem: string, examples: string): AsyncAgentsError {
  return new AsyncAgentsError("invalid_input", `${problem}. For example: ${examples}`);
}
