/** How long things last that the product promises. Written out here: its own numbers are what is checked. */

/** An instance that has sent no heartbeat for so long may be taken for dead. */
export const LEASE_MS = 30_000;
/** For how long a process that ends looks into the session of a run that it interrupts. */
export const LAST_LOOK_MS = 1_000;
