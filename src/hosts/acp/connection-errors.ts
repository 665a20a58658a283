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
}

/** The agent's process ended before it answered; the message says how. */
export class AgentGone extends Error {}
