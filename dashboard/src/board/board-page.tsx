/**
 * The board: the work items of one project by status; or what to do if there is no board or no project yet.
 */
import { useEffect, useState } from "react";
import { Button } from "../parts/button.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { FailureNote } from "../parts/failure-note.tsx";
import { Icon } from "../parts/icons.tsx";
import { navigate } from "../routing/location.ts";
import { boardPath } from "../routing/route.ts";
import { useProjects } from "../server/board-queries.ts";
import { isWithoutBoard } from "../server/failure.ts";
import { AddProjectDialog } from "./add-project-dialog.tsx";
import { BoardBar } from "./board-bar.tsx";
import { BoardColumns } from "./board-columns.tsx";
import { chosenProject, rememberProject } from "./chosen-project.ts";
import { NoBoard } from "./no-board.tsx";

export function BoardPage({ projectId }: { projectId: string | null }) {
  const projects = useProjects();
  const [filter, setFilter] = useState("");
  const project = chosenProject(projects.data ?? [], projectId);
  const chosen = project?.id;
  useEffect(() => {
    if (chosen !== undefined) rememberProject(chosen);
  }, [chosen]);
  if (!projects.data) {
    if (projects.isPending) return <p className="p-5 text-muted">Loading the board…</p>;
    if (isWithoutBoard(projects.error)) return <NoBoard onRetry={() => void projects.refetch()} />;
    return (
      <div className="p-5">
        <h1 className="sr-only">Board</h1>
        <FailureNote
          title="The board could not be loaded"
          failure={projects.error}
          onRetry={() => void projects.refetch()}
        />
      </div>
    );
  }
  if (projects.data.length === 0) return <NoProjects />;
  if (!project) return <UnknownProject />;
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <h1 className="sr-only">Board</h1>
      <BoardBar project={project} projects={projects.data} filter={filter} onFilter={setFilter} />
      <BoardColumns key={project.id} projectId={project.id} filter={filter} />
    </div>
  );
}

function NoProjects() {
  const [adds, setAdds] = useState(false);
  return (
    <EmptyState title="No projects yet" icon="board">
      <p className="max-w-md">
        A project has work items and the git repositories they belong to. An agent works on an item in its own worktree;
        you review the changes and merge them.
      </p>
      <Button weight="primary" className="mt-4" onClick={() => setAdds(true)}>
        <Icon name="plus" />
        Add a project
      </Button>
      {adds && <AddProjectDialog onClose={() => setAdds(false)} />}
    </EmptyState>
  );
}

function UnknownProject() {
  return (
    <EmptyState title="There is no such project" icon="board">
      <p>It may have been removed.</p>
      <Button className="mt-3" onClick={() => navigate(boardPath(), { replace: true })}>
        Show another project
      </Button>
    </EmptyState>
  );
}
