/** The ways in which a call to an agent fails. No behaviour. */

/** An error that the agent itself answered with. */
export class AgentRefusal extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }

  get needsLogin(): boolean {
    return this.code === -32000;
  }

  /** The protocol's own word for it: what was asked for is not there, so nothing was done. */
  get isNotFound(): boolean {
    return this.code === -32002;
  }

  /** The session seems to be gone. Agents have no common code for it, and a model's provider may use the same words. */
  get isSessionGone(): boolean {
    return (
      this.isNotFound || /\b(session|thread|conversation|rollout)\b.{0,40}\b(not found|unknown)/i.test(this.message)
    );
  }
}

/** The agent's process ended before it answered; the message says how. */
export class AgentGone extends Error {}
