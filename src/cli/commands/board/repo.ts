/**
 * `project repo …`: a project's git repositories, and how their new worktrees are prepared. Each command is one
 * operation, displayed for people.
 */
import { resolve } from "node:path";
import { AsyncAgentsError } from "../../../model/errors.ts";
import type { Command } from "../../command.ts";
import { EXIT } from "../../exit-codes.ts";
import { allRepos, resolveProject, resolveRepo } from "../../identifiers.ts";
import { type Column, tableLines } from "../../terminal/table.ts";
import { oneLine, shortId } from "../../terminal/text.ts";

const PROJECT = { name: "project", completes: "project" } as const;
const REPO = { name: "repository" } as const;
const COPY = {
  value: "pattern",
  multiple: true,
  summary: "untracked file to copy into each worktree, for example .env; can be repeated",
};
const SETUP = { value: "script", summary: "a bash script to run in each new worktree, for example: npm ci" };

const add: Command = {
  name: "project repo add",
  summary: "add a git repository to a project",
  operands: [PROJECT, { name: "path", completes: "directory" }],
  options: {
    name: { value: "text", short: "n", summary: "its name (default: the folder's name)" },
    copy: COPY,
    setup: SETUP,
  },
  examples: ["asyncagents project repo add shop . --copy .env --setup 'npm ci'"],
  async run({ arguments: given, connection, screen, cwd }) {
    const client = await connection.client();
    const { id: project_id } = await resolveProject(client, given.operand(0));
    const [name, setup, copy] = [given.text("name"), given.text("setup"), given.texts("copy")];
    const added = await client.operate("add_repo", {
      project_id,
      path: resolve(cwd, given.operand(1)),
      ...(name === undefined ? {} : { name }),
      ...(setup === undefined ? {} : { setup }),
      ...(copy.length === 0 ? {} : { copy }),
    });
    screen.show(added, () => screen.line(added.repo_id));
    screen.hint(`Repository "${oneLine(added.name)}", on branch ${added.current_branch ?? "none"}.`);
    return EXIT.ok;
  },
};

const list: Command = {
  name: "project repo ls",
  aliases: ["project repo list"],
  summary: "list a project's repositories, with their copied files and setup scripts",
  operands: [PROJECT],
  async run({ arguments: given, connection, screen }) {
    const client = await connection.client();
    const { id: project_id } = await resolveProject(client, given.operand(0));
    const repos = await Promise.all(
      (await allRepos(client, project_id)).map(async ({ id, name }) => {
        const { path, current_branch, copy, setup } = await client.operate("find_repo", { repo_id: id });
        return { id, name, path, current_branch, copy, setup };
      }),
    );
    screen.show({ project_id, repos }, () => {
      if (repos.length === 0)
        return screen.hint("No repositories. Add one: asyncagents project repo add <project> <path>");
      const columns: Column<(typeof repos)[number]>[] = [
        { title: "ID", cell: ({ id }) => shortId(id) },
        { title: "NAME", cell: ({ name }) => name, least: 8 },
        { title: "BRANCH", cell: ({ current_branch }) => current_branch ?? "-", least: 6 },
        { title: "COPIES", cell: ({ copy }) => copy.join(", ") || "-", least: 6 },
        { title: "SETUP", cell: ({ setup }) => setup ?? "-", least: 6 },
        { title: "PATH", cell: ({ path }) => path ?? "gone", least: 12 },
      ];
      for (const line of tableLines(columns, repos, screen)) screen.line(line);
    });
    return EXIT.ok;
  },
};

const set: Command = {
  name: "project repo set",
  summary: "change a repository's name, copied files or setup script",
  details:
    "Options that are not given stay unchanged; --copy replaces the whole list. Existing attempts are not changed.",
  operands: [PROJECT, REPO],
  options: {
    name: { value: "text", short: "n", summary: "the new name" },
    copy: COPY,
    "no-copy": { summary: "copy nothing" },
    setup: SETUP,
    "no-setup": { summary: "run no script" },
  },
  examples: ["asyncagents project repo set shop web --setup 'npm ci' --copy .env --copy .env.local"],
  async run({ arguments: given, connection, screen }) {
    const name = given.text("name");
    const setup = given.flag("no-setup") ? "" : given.text("setup");
    const copy = given.flag("no-copy") ? [] : given.has("copy") ? given.texts("copy") : undefined;
    if (name === undefined && setup === undefined && copy === undefined) {
      const message = "Say what to change: --name, --copy, --no-copy, --setup or --no-setup.";
      throw new AsyncAgentsError("missing_required", message);
    }
    const client = await connection.client();
    const { id: project_id } = await resolveProject(client, given.operand(0));
    const { id: repo_id } = await resolveRepo(client, project_id, given.operand(1));
    const changed = await client.operate("update_repo", {
      repo_id,
      ...(name === undefined ? {} : { name }),
      ...(setup === undefined ? {} : { setup }),
      ...(copy === undefined ? {} : { copy }),
    });
    screen.show(changed, () => {
      const copies = changed.copy.join(", ") || "nothing";
      screen.line(
        `"${oneLine(changed.name)}" copies ${oneLine(copies)}; its setup: ${oneLine(changed.setup ?? "none")}`,
      );
    });
    return EXIT.ok;
  },
};

const remove: Command = {
  name: "project repo rm",
  summary: "remove a repository from its project",
  details: "Refused while an attempt uses it. The folder on disk is not changed.",
  operands: [PROJECT, REPO],
  examples: ["asyncagents project repo rm shop web"],
  async run({ arguments: given, connection, screen }) {
    const client = await connection.client();
    const { id: project_id, name: project } = await resolveProject(client, given.operand(0));
    const { id: repo_id, name } = await resolveRepo(client, project_id, given.operand(1));
    const removed = await client.operate("remove_repo", { repo_id });
    screen.show(removed, () => screen.line(`Removed the repository "${oneLine(name)}" from "${oneLine(project)}".`));
    return EXIT.ok;
  },
};

export const REPO_COMMANDS: readonly Command[] = [add, list, set, remove];
