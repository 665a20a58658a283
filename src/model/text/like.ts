/** Compares texts with patterns in which `*` stands for any characters. Pure. */

export function isLike(text: string, pattern = "*"): boolean {
  return likeExpression(pattern, "[\\s\\S]*").test(text);
}

/** `any` is what a star stands for, as part of a regular expression. */
export function likeExpression(pattern: string, any: string): RegExp {
  const parts = pattern.split("*").map((part) => part.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"));
  return new RegExp(`^${parts.join(any)}$`);
}
