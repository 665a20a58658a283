/**
 * The bar above the columns: the project, a filter, and the buttons that add something.
 */

import { useState } from "react";
import { SearchField } from "../forms/search-field.tsx";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icons.tsx";
import { navigate } from "../routing/location.ts";
import { boardPath } from "../routing/route.ts";
import { useRepos } from "../server/board-queries.ts";
import type { Project } from "../server/operate.ts";
import { Allowed } from "../session/allowed.tsx";
import { useMay } from "../session/session.ts";
import { useShortcuts } from "../shell/shortcuts.ts";
import { visibleText } from "../wording/hidden-characters.ts";
import { AddProjectDialog } from "./add-project-dialog.tsx";
import { AddRepoDialog } from "./add-repo-dialog.tsx";
import { CreateItemDialog } from "./create-item-dialog.tsx";

const ADD = "+ add";

interface BoardBarProps {
  project: Project;
  projects: readonly Project[];
  filter: string;
  onFilter: (text: string) => void;
}

export function BoardBar({ project, projects, filter, onFilter }: BoardBarProps) {
  const [dialog, setDialog] = useState<"project" | "repo" | "item" | null>(null);
  const { data: repos } = useRepos(project.id);
  const close = () => setDialog(null);
  const mayCreate = useMay("create_task");
  useShortcuts({ c: () => mayCreate && setDialog("item") });
  const choose = (id: string) => (id === ADD ? setDialog("project") : navigate(boardPath(id)));
  return (
    <div className="flex flex-wrap items-center gap-2 px-3 py-3 sm:px-5">
      <select
        aria-label="Project"
        value={project.id}
        onChange={(event) => choose(event.target.value)}
        className="h-8 max-w-full min-w-0 flex-1 truncate rounded-md bg-surface px-2 font-medium ring-1 ring-line ring-inset sm:max-w-64 sm:flex-none"
      >
        {projects.map(({ id, name }) => (
          <option key={id} value={id}>
            {visibleText(name)}
          </option>
        ))}
        <Allowed to="add_project">
          <option value={ADD}>Add a project…</option>
        </Allowed>
      </select>
      <Button
        disabled={!useMay("add_repo")}
        onClick={() => setDialog("repo")}
        title={repos?.map(({ name }) => visibleText(name)).join(", ")}
      >
        <Icon name="branch" />
        {repos === undefined || repos.length > 0 ? (
          <>
            <span className="hidden sm:inline">Repositories</span> {repos?.length ?? ""}
          </>
        ) : (
          "Add a repository"
        )}
      </Button>
      <SearchField
        label="Filter work items"
        text={filter}
        onText={onFilter}
        className="order-last w-full sm:order-none sm:w-60"
      />
      <Allowed to="create_task">
        <Button className="sm:ml-auto" title="New work item (c)" onClick={() => setDialog("item")}>
          <Icon name="plus" />
          New work item
        </Button>
      </Allowed>
      {dialog === "project" && <AddProjectDialog onClose={close} />}
      {dialog === "repo" && <AddRepoDialog projectId={project.id} onClose={close} />}
      {dialog === "item" && <CreateItemDialog projectId={project.id} onClose={close} />}
    </div>
  );
}
