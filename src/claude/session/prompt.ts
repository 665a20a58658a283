/**
 * A prompt for Claude: a text, or blocks of text, images and documents, in the form of the Messages API. Types, and the
 * check that a prompt is not empty, since Claude would not answer.
 */
import { AsyncAgentsError } from "../../model/errors.ts";

/** One part of a prompt. */
export type PromptBlock =
  | { type: "text"; text: string }
  | { type: "image"; source: ImageSource }
  | { type: "document"; source: DocumentSource; title?: string; context?: string };

/** An image, as base64 or URL. */
export type ImageSource =
  | { type: "base64"; media_type: "image/jpeg" | "image/png" | "image/gif" | "image/webp"; data: string }
  | { type: "url"; url: string };

/** A document, as a base64 PDF, a URL, or plain text. */
export type DocumentSource =
  | { type: "base64"; media_type: "application/pdf"; data: string }
  | { type: "url"; url: string }
  | { type: "text"; media_type: "text/plain"; data: string };

/** A prompt. */
export type Prompt = string | readonly PromptBlock[];

/** Throws if the prompt is empty. */
export function checkPrompt(prompt: Prompt): void {
  const isEmpty = typeof prompt === "string" ? prompt.trim() === "" : prompt.length === 0;
  if (isEmpty) throw new AsyncAgentsError("invalid_input", "The prompt is empty: say what Claude should do.");
}
