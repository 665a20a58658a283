/**
 * Types for loosely parsed values: unknown fields pass through at run time, but a misspelled field does not compile.
 * Types only.
 */

/** Exactly the fields that the schema names, at every depth. */
export type Closed<Value> = Value extends readonly (infer Item)[]
  ? Closed<Item>[]
  : Value extends object
    ? { [Key in keyof Value as string extends Key ? never : Key]: Closed<Value[Key]> }
    : Value;
