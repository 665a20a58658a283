/**
 * Steering: messages into a run that is at work, each with a receipt. A message is accepted (stored), sent (its id in
 * the session is fixed before that, so that sending it again replaces it), and delivered once the agent was seen to
 * take it up. If the run ends first, it failed. Pure; the store keeps the messages, and the driver of the run sends
 * them.
 */

export const STEERING_STATES = ["accepted", "sent", "delivered", "failed", "cancelled"] as const;
export type SteeringState = (typeof STEERING_STATES)[number];

/** How many messages one run takes. */
export const MAX_STEERING = 100;

export interface SteeringMessage {
  id: string;
  taskId: string;
  /** The number of the run that it is for. */
  run: number;
  text: string;
  /** Who sent it: a session's id, or a name for people. */
  by: string;
  state: SteeringState;
  /** Its id in the run's session; null until it is about to be sent. */
  messageId: string | null;
  /** Why it failed, or who cancelled it. */
  reason: string | null;
  acceptedAt: number;
  sentAt: number | null;
  /** When it was delivered, failed or was cancelled. */
  settledAt: number | null;
}

export type SteeringEvent =
  | { type: "steer.accepted"; at: number; run: number; id: string; text: string; by: string }
  | { type: "steer.sent"; at: number; run: number; id: string; messageId: string }
  | { type: "steer.delivered"; at: number; run: number; id: string }
  | { type: "steer.failed"; at: number; run: number; id: string; reason: string }
  | { type: "steer.cancelled"; at: number; run: number; id: string; by: string };

export function isSteering(event: { type: string }): event is SteeringEvent {
  return event.type.startsWith("steer.");
}

export function isSettled({ state }: Pick<SteeringMessage, "state">): boolean {
  return state !== "accepted" && state !== "sent";
}

/** The message after the event; null if the event does not fit its state, and changes nothing. */
export function steered(message: SteeringMessage | null, taskId: string, event: SteeringEvent): SteeringMessage | null {
  const { at, id, run } = event;
  if (event.type === "steer.accepted") {
    if (message !== null) return null;
    const { text, by } = event;
    const open = { messageId: null, reason: null, acceptedAt: at, sentAt: null, settledAt: null };
    return { id, taskId, run, text, by, state: "accepted", ...open };
  }
  if (message === null || message.run !== run || isSettled(message)) return null;
  const isSent = message.state === "sent";
  switch (event.type) {
    case "steer.sent":
      return isSent ? null : { ...message, state: "sent", messageId: event.messageId, sentAt: at };
    case "steer.delivered":
      return isSent ? { ...message, state: "delivered", settledAt: at } : null;
    case "steer.failed":
      return { ...message, state: "failed", reason: event.reason, settledAt: at };
    case "steer.cancelled":
      // What is in the session may be read at any moment.
      return isSent ? null : { ...message, state: "cancelled", reason: event.by, settledAt: at };
  }
}

/** What became of a message, in a sentence. */
export function receiptText({ state, reason }: Pick<SteeringMessage, "state" | "reason">): string {
  switch (state) {
    case "accepted":
      return "accepted: it is stored, and is sent as soon as the run is at work";
    case "sent":
      return "sent: it is in the agent's session, and is read at its next step";
    case "delivered":
      return "delivered: the agent took it up";
    case "failed":
      return `failed: ${reason ?? "no reason is known"}`;
    case "cancelled":
      return `cancelled by ${reason ?? "somebody"}`;
  }
}

/** Why a message failed whose run ended, by the state that it was in. */
export const ENDED_FIRST = {
  accepted: "the run ended before it was sent; resume the task with this text",
  sent: "the run ended before the agent was seen to take it up; if the conversation shows it, the agent reads it with the next prompt, otherwise resume the task with this text",
} as const;

/** Why a message failed that was in a session which its run has left. */
export const BEGAN_AGAIN = "the run began again in another session; send it again";
