/**
 * Copies a text, which may have to be fetched first, and reports the result.
 */
import { useState } from "react";
import { copyText } from "../browser/clipboard.ts";
import { failureText } from "../server/failure.ts";
import { Button } from "./button.tsx";
import { Icon } from "./icons.tsx";

const TOLD_MS = 2000;

interface CopyButtonProps {
  label: string;
  text: () => string | Promise<string>;
  weight?: "plain" | "quiet";
}

export function CopyButton({ label, text, weight = "quiet" }: CopyButtonProps) {
  const [told, setTold] = useState<string | null>(null);
  const copy = async () => {
    try {
      await copyText(await text());
      setTold("Copied");
    } catch (failure) {
      setTold(`Not copied: ${failureText(failure)}`);
    }
    setTimeout(() => setTold(null), TOLD_MS);
  };
  return (
    <Button weight={weight} onClick={() => void copy()}>
      <Icon name={told === "Copied" ? "completed" : "copy"} />
      <span aria-live="polite">{told ?? label}</span>
    </Button>
  );
}
