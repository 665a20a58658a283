/**
 * Shows a control only to those whose role includes its operation; to others, what is given instead.
 */
import type { ReactNode } from "react";
import type { OperationName } from "../../../src/protocol/operations.ts";
import { useMay } from "./session.ts";

interface AllowedProps {
  to: OperationName;
  instead?: ReactNode;
  children: ReactNode;
}

export function Allowed({ to, instead = null, children }: AllowedProps) {
  return useMay(to) ? children : instead;
}
