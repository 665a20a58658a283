/**
 * `npm run packages`: packs every package, installs each into an empty folder, and uses it there as a stranger would.
 * Prints the installed sizes, and fails where one exceeds its limit. Needs the npm registry, so it is not part of
 * `npm test`.
 */
import { dirname, join } from "node:path";
import { build } from "./build.ts";

const root = dirname(import.meta.dir);

await build({ say: (line) => console.log(line) });
const child = Bun.spawn([process.execPath, "test", join(root, "test/packages/tarballs.ts")], {
  cwd: root,
  stdio: ["ignore", "inherit", "inherit"],
});
process.exit(await child.exited);
