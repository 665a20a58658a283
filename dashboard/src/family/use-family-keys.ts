/**
 * Keys that go from a task or a batch to its relations: parent, siblings, the next failure. The batch is read when a
 * key is pressed, not before. `told` is what to say when there is nowhere to go.
 */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { TaskGroup } from "../../../src/protocol/statistics.ts";
import { useActions } from "../palette/actions.ts";
import { navigate } from "../routing/location.ts";
import { batchPath, taskPath } from "../routing/route.ts";
import { failureText } from "../server/failure.ts";
import { readingClient } from "../server/page-client.ts";
import { queryKeys } from "../server/query-keys.ts";
import { useShortcuts } from "../shell/shortcuts.ts";
import { neighbourOf, nextFailure } from "./neighbours.ts";

const TOLD_MS = 4_000;

interface FamilyPlace {
  /** Null on the page of the batch. */
  taskId: string | null;
  batchId: string;
  parentSessionId: string | null;
}

export function useFamilyKeys({ taskId, batchId, parentSessionId }: FamilyPlace): string {
  const queries = useQueryClient();
  const [told, setTold] = useState("");
  useEffect(() => {
    if (told === "") return;
    const timer = setTimeout(() => setTold(""), TOLD_MS);
    return () => clearTimeout(timer);
  }, [told]);
  const go = (choose: (group: TaskGroup) => string | null, otherwise: string) => async () => {
    try {
      const group = await queries.fetchQuery({
        queryKey: queryKeys.group(batchId),
        queryFn: ({ signal }) => readingClient.group(batchId, signal),
      });
      const id = choose(group);
      if (id === null) setTold(otherwise);
      else navigate(taskPath(id));
    } catch (failure) {
      setTold(`The batch could not be loaded: ${failureText(failure)}`);
    }
  };
  const toParent = async () => {
    if (parentSessionId === null) {
      if (taskId === null) setTold("A person launched this batch.");
      else navigate(batchPath(batchId));
      return;
    }
    // A parent is a session, which may be somebody's own.
    const parent = await readingClient.task(parentSessionId).catch(() => null);
    if (parent !== null) navigate(taskPath(parent.id));
    else if (taskId === null) setTold("Its parent is not a task.");
    else navigate(batchPath(batchId));
  };
  const toNext = go(({ tasks }) => neighbourOf(tasks, taskId, 1), "There is no other task in this batch.");
  const toPrevious = go(({ tasks }) => neighbourOf(tasks, taskId, -1), "There is no other task in this batch.");
  const toFailure = go(({ tasks }) => nextFailure(tasks, taskId), "No other task of this batch has failed.");
  useShortcuts({
    p: () => void toParent(),
    "]": () => void toNext(),
    "[": () => void toPrevious(),
    f: () => void toFailure(),
  });
  useActions([
    { id: "parent", label: "Go to the parent", keys: "p", run: () => void toParent() },
    { id: "next", label: "Go to the next task of this batch", keys: "]", run: () => void toNext() },
    { id: "previous", label: "Go to the previous task of this batch", keys: "[", run: () => void toPrevious() },
    { id: "failure", label: "Go to the next failure of this batch", keys: "f", run: () => void toFailure() },
  ]);
  return told;
}
