/** `doctor`: checks everything asyncagents needs, and says how to fix what is wrong. Changes nothing. */
import { applyConfiguration, valuesOf } from "../../../configuration/configuration.ts";
import { messageOf } from "../../../model/errors.ts";
import type { Command } from "../../command.ts";
import { EXIT } from "../../exit-codes.ts";
import type { Finding } from "../../setup/finding.ts";
import type { Paint } from "../../terminal/paint.ts";
import { padTo, widthOf } from "../../terminal/text.ts";

export const doctorCommand: Command = {
  name: "doctor",
  summary: "check the installation and suggest fixes",
  details: "Exits with 1 if there is a problem; warnings do not count.",
  examples: ["asyncagents doctor", "asyncagents doctor --json | jq '.findings[] | select(.state != \"ok\")'"],
  async run({ screen, directory, cwd, environment }) {
    // Imported here because it loads the store, which no other command needs.
    const { CHECKS } = await import("../../setup/doctor-checks.ts");
    const applied = applyConfiguration({ directory, environment });
    const context = { directory, cwd, environment, applied, configuration: valuesOf(applied) };
    const looking = Promise.all(
      CHECKS.map(async (check) => {
        try {
          return await check(context);
        } catch (thrown) {
          const failed: Finding = { name: "doctor", state: "problem", says: messageOf(thrown), remedy: "Report this." };
          return failed;
        }
      }),
    );
    const findings = (await screen.during("looking", looking)).flat();
    const healthy = findings.every(({ state }) => state !== "problem");
    screen.show({ healthy, findings }, () => {
      const wide = Math.max(...findings.map(({ name }) => widthOf(name)));
      for (const finding of findings) for (const line of findingLines(finding, wide, screen.paint)) screen.line(line);
    });
    return healthy ? EXIT.ok : EXIT.failed;
  },
};

function findingLines({ name, state, says, remedy }: Finding, wide: number, paint: Paint): string[] {
  const mark = { ok: paint.green("✓"), warning: paint.yellow("!"), problem: paint.red("✗") }[state];
  const line = `${mark} ${padTo(name, wide)}  ${says}`;
  return remedy === null
    ? [line]
    : [line, ...remedy.split("\n").map((each) => `  ${" ".repeat(wide)}  ${paint.dim("→")} ${each}`)];
}
