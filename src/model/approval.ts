/**
 * Something that a person must approve before it is done for a model: each setup script of a repository and each
 * directory needs one approval. Plain data.
 */

export const APPROVAL_KINDS = ["setup", "directory"] as const;
export const APPROVAL_STATES = ["requested", "approved", "denied"] as const;

export interface Approval {
  id: string;
  /**
   * `setup`: run a script in every new worktree of a repository. `directory`: let agents work in a directory outside
   * all projects.
   */
  kind: (typeof APPROVAL_KINDS)[number];
  /** Identifies the request within its kind, so that it is asked only once. */
  subject: string;
  /** The real path of the repository or the directory. */
  directory: string;
  /** The full script; null for a directory. */
  script: string | null;
  state: (typeof APPROVAL_STATES)[number];
  askedBy: string;
  createdAt: number;
  decidedAt: number | null;
}
