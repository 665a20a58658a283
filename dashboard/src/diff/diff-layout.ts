/**
 * Whether changes are shown in one column or in two, and whether the file tree is open: remembered by this browser. Two
 * columns need a wide screen.
 */
import { useMedia } from "../browser/media.ts";
import { StoredChoice, useChoice } from "../browser/stored-choice.ts";

export const diffLayout = new StoredChoice("asyncagents.diff-layout", ["unified", "split"], "unified");
export const treeChoice = new StoredChoice("asyncagents.diff-tree", ["open", "closed"], "open");

export function useHasRoom(): boolean {
  return useMedia("(min-width: 1100px)");
}

export function useIsSplit(): boolean {
  const chosen = useChoice(diffLayout);
  return useHasRoom() && chosen === "split";
}
