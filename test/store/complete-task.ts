/**
 * A program that completes a task in a store on PostgreSQL: its address, its schema and the id of the task are given.
 */
import { postgresStore } from "../../src/store/open.ts";
import { completed } from "../../src/testing/sample-task.ts";

const [connectionString = "", schema = "", id = ""] = process.argv.slice(2);
const store = await postgresStore({ connectionString, schema });
await store.apply(id, completed(2_000));
await store.close();
