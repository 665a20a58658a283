/** The JSON schema of `asyncagents.json`, made from the sections, for editors. Pure. */
import { z } from "zod";
import { SECTIONS } from "./sections.ts";

export function configurationSchema(): object {
  const sections = Object.entries(SECTIONS).map(([name, { means, settings }]) => {
    const fields = Object.entries(settings).map(([each, { kind, means: meaning, otherwise, variable }]) => {
      const override = variable === undefined ? "" : ` ${variable} overrides it.`;
      return [each, kind.schema.optional().describe(`${meaning} Default: ${otherwise}.${override}`)] as const;
    });
    return [name, z.strictObject(Object.fromEntries(fields)).optional().describe(means)] as const;
  });
  const all = z.strictObject({ $schema: z.string().optional(), ...Object.fromEntries(sections) });
  return { title: "asyncagents.json", description: "The settings of asyncagents.", ...z.toJSONSchema(all) };
}

/** As it is published. */
export function configurationSchemaText(): string {
  return `${JSON.stringify(configurationSchema(), null, 2)}\n`;
}
