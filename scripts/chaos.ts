/**
 * The long run of the crash tests: each named point, then many kills at random moments. `npm test` runs them too,
 * with fewer kills. `npm run chaos -- 50` sets the number.
 */
import { join } from "node:path";

const [kills = "30"] = process.argv.slice(2);
if (!/^[1-9]\d{0,3}$/.test(kills)) {
  console.error("Usage: npm run chaos [-- KILLS]   KILLS is a whole number, 30 when it is left out");
  process.exit(2);
}
const root = join(import.meta.dir, "..");
const child = Bun.spawn(
  [process.execPath, "test", "test/chaos", "--timeout", String(60_000 + Number(kills) * 60_000)],
  {
    cwd: root,
    env: { ...process.env, ASYNCAGENTS_CHAOS_KILLS: kills },
    stdio: ["ignore", "inherit", "inherit"],
  },
);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
process.exitCode = await child.exited;
