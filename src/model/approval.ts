/** What a person has to approve before it is done for a model: once for each script of a repository, and for each directory. Plain data. */

export const APPROVAL_KINDS = ["setup", "directory"] as const;
export const APPROVAL_STATES = ["requested", "approved", "denied"] as const;

export interface Approval {
  id: string;
  /** `setup`: a script is run in each new worktree of a repository. `directory`: agents work in a directory outside of all projects. */
  kind: (typeof APPROVAL_KINDS)[number];
  /** What it is about, within its kind; asked once. */
  subject: string;
  /** The repository, or the directory: a real path. */
  directory: string;
  /** The whole script; null for a directory. */
  script: string | null;
  state: (typeof APPROVAL_STATES)[number];
  askedBy: string;
  createdAt: number;
  decidedAt: number | null;
}
