/**
 * What a caller may do. Each role includes those before it; which operation needs which is in the table of operations.
 */

export const ROLES = ["read", "launch", "answer", "admin"] as const;
export type Role = (typeof ROLES)[number];

export function includesRole(held: Role, needed: Role): boolean {
  return ROLES.indexOf(held) >= ROLES.indexOf(needed);
}
