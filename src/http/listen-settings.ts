/**
 * What the settings of the door to other machines mean. An invalid one is an error: a door must not open elsewhere, or
 * for others, than it was meant to. Where they come from is up to the caller.
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

/** As people write it. */
export interface WantedDoor {
  address: string | undefined;
  publicUrls: readonly string[];
  trustedProxies: readonly string[];
}

/** Null if the door is not wanted. Throws `invalid_input`. */
export function listenSettings({ address, publicUrls, trustedProxies }: WantedDoor): ListenSettings | null {
  if (address === undefined) return null;
  return { ...placeOf(address), publicUrls: publicUrls.map(originOf), proxies: trustedProxies.map(proxyOf) };
}

export const isListenAddress = (text: string): boolean => isAccepted(placeOf, text);
export const isPublicUrl = (text: string): boolean => isAccepted(originOf, text);
export const isProxyAddress = (text: string): boolean => isAccepted(proxyOf, text);

function isAccepted(read: (text: string) => unknown, text: string): boolean {
  try {
    read(text);
    return true;
  } catch {
    return false;
  }
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

function invalid(problem: string, examples: string): AsyncAgentsError {
  return new AsyncAgentsError("invalid_input", `${problem}. For example: ${examples}`);
}
