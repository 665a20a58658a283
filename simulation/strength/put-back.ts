/** A fault that is put into the code, to see whether the simulation finds it: exact edits, with what they mean. */
export interface PutBack {
  /** Short, for `--only` and the report. */
  name: string;
  /** What the product then does wrong, in words. */
  fault: string;
  edits: readonly Edit[];
}

/** `old` occurs exactly once in the file. */
export interface Edit {
  /** From the top of the repository. */
  file: string;
  old: string;
  new: string;
}

/** A fault that the simulation cannot show. */
export interface OutOfReach {
  name: string;
  fault: string;
  why: string;
  /** What tests it instead. */
  testedBy: string;
}
