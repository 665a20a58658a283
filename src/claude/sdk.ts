/**
 * The only access to the Claude Agent SDK, an optional peer dependency: its types, and its code when a session is
 * opened. The types are `any` if the package is not installed, so that the rest of this library can be used without it.
 */
// biome-ignore-all lint/suspicious/noTsIgnore: only where the peer is missing is there an error to expect
import { AsyncAgentsError } from "../model/errors.ts";

/** @ts-ignore: an optional peer */
export type SdkModule = typeof import("@anthropic-ai/claude-agent-sdk");
/** @ts-ignore: an optional peer */
export type SdkOptions = import("@anthropic-ai/claude-agent-sdk").Options;
/** @ts-ignore: an optional peer */
export type SdkMessage = import("@anthropic-ai/claude-agent-sdk").SDKMessage;
/** @ts-ignore: an optional peer */
export type SdkUserMessage = import("@anthropic-ai/claude-agent-sdk").SDKUserMessage;
/** @ts-ignore: an optional peer */
export type SdkQuery = import("@anthropic-ai/claude-agent-sdk").Query;
/** @ts-ignore: an optional peer */
export type SdkPermissionUpdate = import("@anthropic-ai/claude-agent-sdk").PermissionUpdate;

const PACKAGE = "@anthropic-ai/claude-agent-sdk";

/** Loads the SDK. If it is missing, rejects with what to install. */
export async function loadSdk(): Promise<SdkModule> {
  try {
    return await import("@anthropic-ai/claude-agent-sdk");
  } catch (cause) {
    const message = `openClaude needs the package ${PACKAGE}, which cannot be loaded. Install it: npm install ${PACKAGE}`;
    throw new AsyncAgentsError("host_unavailable", message, { details: { package: PACKAGE }, cause });
  }
}
