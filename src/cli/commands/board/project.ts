/** `project …`: projects on the board. Each command is one operation, displayed for people. */
import { resolve } from "node:path";
import type { Command } from "../../command.ts";
import { EXIT } from "../../exit-codes.ts";
import { allProjects, resolveProject } from "../../identifiers.ts";
import { tableLines } from "../../terminal/table.ts";
import { ago, oneLine } from "../../terminal/text.ts";

const PROJECT = { name: "project", completes: "project" } as const;

const add: Command = {
  name: "project add",
  summary: "create a project",
  operands: [{ name: "name" }],
  options: {
    repo: {
      value: "path",
      multiple: true,
      summary: "a git repository to add; can be repeated",
      completes: "directory",
    },
  },
  examples: ["asyncagents project add shop --repo ."],
  async run({ arguments: given, connection, screen, cwd }) {
    const client = await connection.client();
    const paths = given.texts("repo").map((path) => resolve(cwd, path));
    const added = await client.operate("add_project", { name: given.operand(0), repos: paths });
    screen.show(added, () => screen.line(added.project_id));
    if (added.repos.length === 0) screen.hint("Add a repository: asyncagents project repo add <project> <path>");
    return EXIT.ok;
  },
};

const list: Command = {
  name: "project ls",
  aliases: ["project list"],
  summary: "list projects",
  async run({ connection, screen }) {
    const projects = await allProjects(await connection.client());
    screen.show({ projects }, () => {
      if (projects.length === 0)
        return screen.hint("No projects. Create one: asyncagents project add <name> --repo <path>");
      const columns = [
        { title: "ID", cell: ({ id }: (typeof projects)[number]) => id.slice(0, 8) },
        { title: "NAME", cell: ({ name }: (typeof projects)[number]) => name, least: 12 },
        { title: "CHANGED", cell: ({ updated_at }: (typeof projects)[number]) => ago(updated_at, Date.now()) },
      ];
      for (const line of tableLines(columns, projects, screen)) screen.line(line);
    });
    return EXIT.ok;
  },
};

const remove: Command = {
  name: "project rm",
  summary: "remove a project that has no items",
  details: "Repositories on disk are not changed.",
  operands: [PROJECT],
  async run({ arguments: given, connection, screen }) {
    const client = await connection.client();
    const { id: project_id, name } = await resolveProject(client, given.operand(0));
    const removed = await client.operate("remove_project", { project_id });
    screen.show(removed, () => screen.line(`Project "${oneLine(name)}" is removed.`));
    return EXIT.ok;
  },
};

export const PROJECT_COMMANDS: readonly Command[] = [add, list, remove];
