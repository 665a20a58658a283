/**
 * The project that the board shows: the one in the address, else the last one used in this browser, else the first.
 */
import { remember, remembered } from "../browser/remembered.ts";
import type { Project } from "../server/operate.ts";

const NAME = "project";

export function rememberProject(projectId: string): void {
  remember(NAME, projectId);
}

export function chosenProject(projects: readonly Project[], asked: string | null): Project | null {
  if (asked !== null) return projects.find(({ id }) => id === asked) ?? null;
  const last = remembered(NAME);
  return projects.find(({ id }) => id === last) ?? projects[0] ?? null;
}
