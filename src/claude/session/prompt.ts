/**
 * What can be said to Claude: a text, or blocks of text, images and documents, in the form of the Messages API. Types, and the
 * check that there is something at all: Claude answers nothing to nothing.
 */
import { AsyncAgentsError } from "../../model/errors.ts";

/** One part of a prompt. */
export type PromptBlock =
  | { type: "text"; text: string }
  | { type: "image"; source: ImageSource }
  | { type: "document"; source: DocumentSource; title?: string; context?: string };

/** An image, in base64 or by its address. */
export type ImageSource =
  | { type: "base64"; media_type: "image/jpeg" | "image/png" | "image/gif" | "image/webp"; data: string }
  | { type: "url"; url: string };

/** A document, as a PDF in base64, by its address, or as plain text. */
export type DocumentSource =
  | { type: "base64"; media_type: "application/pdf"; data: string }
  | { type: "url"; url: string }
  | { type: "text"; media_type: "text/plain"; data: string };

/** A prompt. */
export type Prompt = string | readonly PromptBlock[];

/** Throws where there is nothing in it. */
export function checkPrompt(prompt: Prompt): void {
  const isEmpty = typeof prompt === "string" ? prompt.trim() === "" : prompt.length === 0;
  if (isEmpty) throw new AsyncAgentsError("invalid_input", "The prompt is empty: say what Claude should do.");
}
