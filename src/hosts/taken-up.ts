/**
 * Which steering messages an agent took up, read from a session's messages: those after which it began an answer to
 * them, or to a later message. An answer that was begun before a message arrived, and ended after it, does not count.
 * Pure; shared by the hosts.
 */

interface ReadMessage {
  id: string;
  role: "user" | "assistant";
  /** The newest message of the user that an answer replies to. */
  answers: string | undefined;
}

/** `until`: the position of the last answer that took up one; -1 if none did. Messages come oldest first. */
export function takenUp(
  messages: readonly ReadMessage[],
  steering: readonly string[],
): { taken: string[]; until: number } {
  const places = new Map(messages.map(({ id }, index) => [id, index]));
  const taken: string[] = [];
  let until = -1;
  for (const id of steering) {
    const at = places.get(id);
    if (at === undefined) continue;
    const isReply = ({ role, answers = "" }: ReadMessage) => role === "assistant" && (places.get(answers) ?? -1) >= at;
    const reply = messages.findIndex(isReply);
    if (reply === -1) continue;
    taken.push(id);
    until = Math.max(until, reply);
  }
  return { taken, until };
}
