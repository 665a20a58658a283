/**
 * The page's buttons: one shape, four weights. Never a submit button by accident.
 */
import type { ButtonHTMLAttributes } from "react";

const WEIGHTS = {
  primary: "bg-accent text-on-accent font-medium hover:opacity-90",
  plain: "bg-surface text-ink ring-1 ring-line ring-inset hover:bg-raised",
  danger: "bg-surface text-error font-medium ring-1 ring-error/40 ring-inset hover:bg-error/10",
  quiet: "text-muted hover:bg-raised hover:text-ink",
} as const;

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  weight?: keyof typeof WEIGHTS;
}

export function Button({ weight = "plain", type = "button", className = "", ...rest }: ButtonProps) {
  const shape =
    "inline-flex h-8 items-center justify-center gap-1.5 rounded-md px-2.5 text-[13px] whitespace-nowrap transition-colors disabled:cursor-not-allowed disabled:opacity-50";
  return <button type={type} className={`${shape} ${WEIGHTS[weight]} ${className}`} {...rest} />;
}
