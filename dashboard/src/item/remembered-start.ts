/**
 * The last choices in this browser for starting an attempt: executor, agent, and each repository's branch.
 */
import { remember, remembered } from "../browser/remembered.ts";

export function rememberBranch(repoId: string, branch: string): void {
  remember(`branch.${repoId}`, branch);
}

export function rememberedBranch(repoId: string): string {
  return remembered(`branch.${repoId}`) ?? "main";
}

export function rememberExecutor(executor: string, variant: string): void {
  remember("executor", executor);
  remember(`variant.${executor}`, variant);
}

export function rememberedExecutor(): string | null {
  return remembered("executor");
}

export function rememberedVariant(executor: string): string {
  return remembered(`variant.${executor}`) ?? "";
}
