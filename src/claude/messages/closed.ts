/**
 * The types of what is parsed loosely: newer fields pass through at run time, and a field that is misspelled does not compile.
 * Types only.
 */

/** The fields that are named in the schema, and no others, at every depth. */
export type Closed<Value> = Value extends readonly (infer Item)[]
  ? Closed<Item>[]
  : Value extends object
    ? { [Key in keyof Value as string extends Key ? never : Key]: Closed<Value[Key]> }
    : Value;
