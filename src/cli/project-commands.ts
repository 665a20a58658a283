/** `project …`: projects and their repositories on the board. Each command is one operation, shown for people. */
import { resolve } from "node:path";
import type { Command } from "./command.ts";
import { EXIT } from "./exit-codes.ts";
import { allProjects, allRepos, findProject } from "./identifiers.ts";
import { tableLines } from "./table.ts";
import { ago } from "./text.ts";

const PROJECT = { name: "project", completes: "project" } as const;

const add: Command = {
  name: "project add",
  summary: "make a project",
  operands: [{ name: "name" }],
  options: {
    repo: {
      value: "path",
      multiple: true,
      summary: "a git repository of it; can be given again",
      completes: "directory",
    },
  },
  examples: ["asyncagents project add shop --repo ."],
  async run({ arguments: given, connection, screen, cwd }) {
    const client = await connection.client();
    const paths = given.texts("repo").map((path) => resolve(cwd, path));
    const added = await client.operate("add_project", { name: given.operand(0), repos: paths });
    screen.show(added, () => screen.line(added.project_id));
    if (added.repos.length === 0) screen.hint("Give it a repository: asyncagents project repo add <project> <path>");
    return EXIT.ok;
  },
};

const list: Command = {
  name: "project ls",
  summary: "list projects",
  async run({ connection, screen }) {
    const projects = await allProjects(await connection.client());
    screen.show({ projects }, () => {
      if (projects.length === 0)
        return screen.hint("No projects. Make one: asyncagents project add <name> --repo <path>");
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
  details: "Repositories on disk are not touched.",
  operands: [PROJECT],
  async run({ arguments: given, connection, screen }) {
    const client = await connection.client();
    const { id: project_id, name } = await findProject(client, given.operand(0));
    const removed = await client.operate("remove_project", { project_id });
    screen.show(removed, () => screen.line(`Project "${name}" is removed.`));
    return EXIT.ok;
  },
};

const addRepo: Command = {
  name: "project repo add",
  summary: "give a project a git repository",
  operands: [PROJECT, { name: "path", completes: "directory" }],
  options: {
    name: { value: "text", short: "n", summary: "its name; the folder's name when absent" },
    copy: {
      value: "pattern",
      multiple: true,
      summary: "untracked files for each worktree, for example .env; can be given again",
    },
    setup: { value: "script", summary: "a bash script that is run in each new worktree, for example: npm ci" },
  },
  examples: ["asyncagents project repo add shop . --copy .env --setup 'npm ci'"],
  async run({ arguments: given, connection, screen, cwd }) {
    const client = await connection.client();
    const { id: project_id } = await findProject(client, given.operand(0));
    const [name, setup, copy] = [given.text("name"), given.text("setup"), given.texts("copy")];
    const added = await client.operate("add_repo", {
      ...{ project_id, path: resolve(cwd, given.operand(1)) },
      ...(name === undefined ? {} : { name }),
      ...(setup === undefined ? {} : { setup }),
      ...(copy.length === 0 ? {} : { copy }),
    });
    screen.show(added, () => screen.line(added.repo_id));
    screen.hint(`Repository "${added.name}", on branch ${added.current_branch ?? "none"}.`);
    return EXIT.ok;
  },
};

const listRepos: Command = {
  name: "project repo ls",
  summary: "list a project's repositories",
  operands: [PROJECT],
  async run({ arguments: given, connection, screen }) {
    const client = await connection.client();
    const { id: project_id } = await findProject(client, given.operand(0));
    const repos = await Promise.all(
      (await allRepos(client, project_id)).map(async ({ id, name }) => {
        const { path, current_branch } = await client.operate("find_repo", { repo_id: id });
        return { id, name, path, current_branch };
      }),
    );
    screen.show({ project_id, repos }, () => {
      if (repos.length === 0) return screen.hint("No repositories. asyncagents project repo add <project> <path>");
      const columns = [
        { title: "ID", cell: ({ id }: (typeof repos)[number]) => id.slice(0, 8) },
        { title: "NAME", cell: ({ name }: (typeof repos)[number]) => name, least: 8 },
        { title: "BRANCH", cell: ({ current_branch }: (typeof repos)[number]) => current_branch ?? "-", least: 8 },
        { title: "PATH", cell: ({ path }: (typeof repos)[number]) => path ?? "gone", least: 12 },
      ];
      for (const line of tableLines(columns, repos, screen)) screen.line(line);
    });
    return EXIT.ok;
  },
};

export const PROJECT_COMMANDS: readonly Command[] = [add, list, remove, addRepo, listRepos];
