/**
 * Queries that are compiled once per shape and then only filled in: for a short read, building the query takes as long
 * as running it. The shape must determine the SQL completely; the values of a call go into slots.
 */
import type { Compilable, CompiledQuery, Kysely } from "kysely";
import type { Schema } from "./schema.ts";
import { storableText } from "./storable.ts";

/** More shapes than a program uses. Any beyond replace the oldest, which are compiled again when they are needed. */
const KEPT_SHAPES = 100;

class Slot {
  readonly read: (input: never) => unknown;

  constructor(read: (input: never) => unknown) {
    this.read = read;
  }
}

/** A placeholder in a query for a value of each call. */
export function given<Input, Value>(read: (input: Input) => Value): Value {
  return new Slot(read) as Value;
}

type Compiled<Shape, Input, Row> = (kysely: Kysely<Schema>, shape: Shape, input: Input) => CompiledQuery<Row>;

export function compiledOnce<Shape, Input, Row>(
  build: (kysely: Kysely<Schema>, shape: Shape) => Compilable<Row>,
): Compiled<Shape, Input, Row> {
  const known = new WeakMap<Kysely<Schema>, Map<string, CompiledQuery<Row>>>();
  return (kysely, shape, input) => {
    const shapes = known.get(kysely) ?? new Map<string, CompiledQuery<Row>>();
    known.set(kysely, shapes);
    const key = JSON.stringify(shape);
    const query = shapes.get(key) ?? build(kysely, shape).compile();
    shapes.set(key, query);
    if (shapes.size > KEPT_SHAPES) shapes.delete(shapes.keys().next().value ?? key);
    return { ...query, parameters: query.parameters.map((parameter) => filled(parameter, input)) };
  };
}

/**
 * A function that runs a query whose shape is given by the names of its inputs. `build` is written as if with the
 * values, but gets slots: it must not inspect them.
 */
export function preparedQuery<Input extends object, Row = unknown>(
  build: (kysely: Kysely<Schema>, input: Input) => Compilable<Row>,
): (kysely: Kysely<Schema>, input: Input) => Promise<Row[]> {
  const query = compiledOnce<(keyof Input)[], Input, Row>((kysely, names) => {
    const slots = names.map((name) => [name, given((input: Input) => input[name])]);
    return build(kysely, Object.fromEntries(slots));
  });
  return async (kysely, input) => {
    const names = Object.keys(input) as (keyof Input)[];
    return (await kysely.executeQuery(query(kysely, names, input))).rows;
  };
}

/** Slots bypass the plugins that make values storable, so this does it. */
function filled(parameter: unknown, input: unknown): unknown {
  if (!(parameter instanceof Slot)) return parameter;
  const value = parameter.read(input as never);
  return Array.isArray(value) ? value.map(storable) : storable(value);
}

function storable(value: unknown): unknown {
  return typeof value === "string" ? storableText(value) : value;
}
