/**
 * Bundles a plugin for OpenCode's screen into one file, compiled for Solid. OpenCode brings Solid and OpenTUI, and
 * finds their imports by text: a minified file would not load, and one with its own copies would draw nothing.
 */
import { createSolidTransformPlugin } from "@opentui/solid/bun-plugin";

export async function bundlePanel(entry: string, folder: string): Promise<void> {
  const result = await Bun.build({
    entrypoints: [entry],
    outdir: folder,
    target: "bun",
    format: "esm",
    minify: false,
    external: ["solid-js", "solid-js/*", "@opentui/*"],
    plugins: [createSolidTransformPlugin()],
  });
  if (!result.success) throw new Error(`${entry} could not be bundled: ${result.logs.join("\n")}`);
}
