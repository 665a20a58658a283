/**
 * The fields that this host reads from what ACP agents send. All of them are optional, and a field of another type
 * counts as absent: agents differ, and none of them is trusted. Reads only; sends nothing.
 */
import { z } from "zod";

const text = z.string().optional().catch(undefined);
const count = z.number().nonnegative().finite().optional().catch(undefined);
/** A longer one is none: ids are kept, and compared, apart from what they belong to. */
const id = z.string().max(1_000).optional().catch(undefined);
const meta = z.record(z.string(), z.unknown()).optional().catch(undefined);

/** A piece of a message, or of what a tool returned. */
const contentSchema = z.looseObject({ type: text, text });

const toolContentSchema = z.looseObject({ type: text, content: contentSchema.optional().catch(undefined), path: text });

const updateSchema = z.looseObject({
  sessionUpdate: z.string(),
  messageId: id,
  toolCallId: id,
  title: text,
  name: text,
  kind: text,
  status: text,
  rawInput: z.unknown().optional(),
  rawOutput: z.unknown().optional(),
  content: z.unknown().optional(),
  cost: z.looseObject({ amount: count, currency: text }).optional().catch(undefined),
  _meta: meta,
});

/** One `session/update`. */
export type AcpUpdate = z.infer<typeof updateSchema>;

const usageSchema = z.looseObject({
  inputTokens: count,
  outputTokens: count,
  thoughtTokens: count,
  cachedReadTokens: count,
  cachedWriteTokens: count,
});

const promptResultSchema = z.looseObject({
  stopReason: z.string().catch(""),
  usage: usageSchema.nullable().optional().catch(undefined),
  _meta: meta,
});

/** The response to `session/prompt`: the end of a turn. */
export type AcpPromptResult = z.infer<typeof promptResultSchema>;

const permissionSchema = z.looseObject({
  sessionId: text,
  toolCall: updateSchema
    .partial({ sessionUpdate: true })
    .catch({ rawInput: undefined, rawOutput: undefined, content: undefined }),
  options: z.array(z.looseObject({ optionId: z.string(), kind: text, name: text })).catch([]),
  _meta: meta,
});

export type AcpPermission = z.infer<typeof permissionSchema>;

const choiceSchema = z.looseObject({ const: z.unknown().optional(), title: text });
const fieldSchema = z.looseObject({
  type: text,
  title: text,
  description: text,
  oneOf: z.array(choiceSchema).optional().catch(undefined),
  enum: z.array(z.unknown()).optional().catch(undefined),
});

const elicitationSchema = z.looseObject({
  sessionId: text,
  mode: text,
  message: text,
  requestedSchema: z
    .looseObject({ properties: z.record(z.string(), fieldSchema).optional().catch(undefined) })
    .optional()
    .catch(undefined),
});

/** A form that a person is asked to fill in. */
export type AcpElicitation = z.infer<typeof elicitationSchema>;
export type AcpField = z.infer<typeof fieldSchema>;

const flag = z.unknown().transform((given) => given !== undefined && given !== null && given !== false);

const initializeSchema = z.looseObject({
  protocolVersion: z.number().catch(0),
  agentInfo: z.looseObject({ name: text, version: text }).optional().catch(undefined),
  agentCapabilities: z
    .looseObject({
      loadSession: flag,
      sessionCapabilities: z.looseObject({ resume: flag }).optional().catch(undefined),
      mcpCapabilities: z.looseObject({ http: flag, sse: flag }).optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
});

export type AcpInitialized = z.infer<typeof initializeSchema>;

const optionSchema = z.looseObject({
  id: z.string().catch(""),
  category: text,
  currentValue: z.unknown().optional(),
  options: z
    .array(
      z.looseObject({
        value: text,
        options: z
          .array(z.looseObject({ value: text }))
          .optional()
          .catch(undefined),
      }),
    )
    .catch([]),
});

const openedSchema = z.looseObject({
  sessionId: text,
  modes: z
    .looseObject({ currentModeId: text, availableModes: z.array(z.looseObject({ id: z.string() })).catch([]) })
    .nullable()
    .optional()
    .catch(undefined),
  configOptions: z.array(optionSchema).nullable().optional().catch(undefined),
});

/** The response to `session/new`, `session/load` and `session/resume`. */
export type AcpOpened = z.infer<typeof openedSchema>;

/** Null if it is not an update at all. */
export function updateOf(value: unknown): AcpUpdate | null {
  return updateSchema.safeParse(value).data ?? null;
}

export function promptResultOf(value: unknown): AcpPromptResult {
  return promptResultSchema.safeParse(value).data ?? { stopReason: "" };
}

export function permissionOf(value: unknown): AcpPermission {
  const nothing = { rawInput: undefined, rawOutput: undefined, content: undefined };
  return permissionSchema.safeParse(value).data ?? { toolCall: nothing, options: [] };
}

export function elicitationOf(value: unknown): AcpElicitation {
  return elicitationSchema.safeParse(value).data ?? {};
}

export function initializedOf(value: unknown): AcpInitialized {
  return initializeSchema.safeParse(value).data ?? { protocolVersion: 0 };
}

export function openedOf(value: unknown): AcpOpened {
  return openedSchema.safeParse(value).data ?? {};
}

/** The text of a message's piece; empty for a picture, a file or anything else. */
export function pieceText(content: unknown): string {
  const piece = contentSchema.safeParse(content).data;
  return piece?.type === "text" ? (piece.text ?? "") : "";
}

/** What a tool shows: its texts, and the files that it changed. Undefined if the update says nothing about it. */
export function toolText(content: unknown): string | undefined {
  if (!Array.isArray(content)) return undefined;
  const pieces = content.flatMap((each) => {
    const piece = toolContentSchema.safeParse(each).data;
    if (piece?.type === "diff") return [`changed ${piece.path ?? "a file"}`];
    return piece?.type === "content" ? [pieceText(piece.content)] : [];
  });
  return pieces.join("\n");
}

export function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
