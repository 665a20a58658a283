import { expect, test } from "bun:test";
import { SCHEMA_FILE } from "../../scripts/api-report.ts";
import { configurationSchemaText } from "../../src/configuration/json-schema.ts";
import { SECTIONS } from "../../src/configuration/sections.ts";
import { read } from "../ground/repository.ts";

test("the published JSON schema is up to date; after a change run `npm run api`", () => {
  expect(read(SCHEMA_FILE)).toBe(configurationSchemaText());
});

test("it describes every setting, allows no others, and editors may name it in the file", () => {
  const schema = JSON.parse(configurationSchemaText());
  expect(Object.keys(schema.properties)).toEqual(["$schema", ...Object.keys(SECTIONS)]);
  expect(schema.required).toBeUndefined();
  for (const [name, { settings }] of Object.entries(SECTIONS)) {
    const section = schema.properties[name];
    expect([section.additionalProperties, Object.keys(section.properties)]).toEqual([false, Object.keys(settings)]);
    for (const field of Object.values<{ description: string }>(section.properties))
      expect(field.description).toContain("Default: ");
  }
  expect(schema.properties.claude.properties.permissionMode.enum).toContain("acceptEdits");
});

test("the guide has a row for every setting", () => {
  const guide = read("docs/configuration.md");
  for (const [section, { settings }] of Object.entries(SECTIONS)) {
    for (const [name, setting] of Object.entries(settings)) {
      const row = guide.split("\n").find((line) => line.startsWith(`| \`${section}.${name}\` `)) ?? "";
      expect([section, name, row]).toEqual([section, name, expect.stringContaining(setting.variable ?? "")]);
    }
  }
});
