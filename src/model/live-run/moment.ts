/** One point in time on both clocks. The model has no clock of its own: every input comes with a moment. */
export interface Moment {
  /** For durations: milliseconds that only rise, and only while the machine is awake. */
  awake: number;
  /** For times that are stored and shown: milliseconds since the epoch. */
  wall: number;
}
