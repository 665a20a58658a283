/**
 * The review of one attempt, for everything below it: its comments and the files that were viewed. Null where a diff is
 * only shown, as in a conversation.
 */
import { createContext, useContext, useMemo, useSyncExternalStore } from "react";
import type { FileDiff } from "../parse-diff.ts";
import { AttemptComments } from "./attempt-comments.ts";
import type { LineComment } from "./line-comment.ts";
import { ViewedFiles } from "./viewed-files.ts";

export interface Review {
  comments: AttemptComments;
  viewed: ViewedFiles;
  /** Whether the person may send comments to the agent. */
  canComment: boolean;
}

export const ReviewContext = createContext<Review | null>(null);

export function useNewReview(attemptId: string, canComment: boolean): Review {
  const kept = useMemo(
    () => ({ comments: new AttemptComments(attemptId), viewed: new ViewedFiles(attemptId) }),
    [attemptId],
  );
  return useMemo(() => ({ ...kept, canComment }), [kept, canComment]);
}

const nothing = () => () => {};
const NONE: readonly LineComment[] = [];

export function useFileComments(repo: string, path: string): readonly LineComment[] {
  const review = useContext(ReviewContext);
  const read = () => review?.comments.of(repo, path) ?? NONE;
  return useSyncExternalStore(review?.comments.subscribe ?? nothing, read);
}

export function useAllComments({ comments }: Review): readonly LineComment[] {
  return useSyncExternalStore(comments.subscribe, comments.all);
}

export function useIsViewed(repo: string, file: FileDiff): boolean {
  const review = useContext(ReviewContext);
  return useSyncExternalStore(review?.viewed.subscribe ?? nothing, () => review?.viewed.has(repo, file) ?? false);
}

/** How many of these files were viewed. */
export function useViewedCount({ viewed }: Review, files: readonly { repo: string; file: FileDiff }[]): number {
  const count = () => files.filter(({ repo, file }) => viewed.has(repo, file)).length;
  return useSyncExternalStore(viewed.subscribe, count);
}
