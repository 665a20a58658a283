/**
 * What runs an attempt: an executor, with the reason and the remedy if it is unavailable here, and its agent. Agents
 * are known only while a host is running; until then one can be typed by name.
 */

import { ChoiceField, TextField } from "../forms/form-fields.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { Icon } from "../parts/icons.tsx";
import type { Executor } from "../server/operate.ts";
import { executorLabel } from "../wording/attempts.ts";
import { rememberedExecutor } from "./remembered-start.ts";

interface ExecutorFieldsProps {
  executors: readonly Executor[];
  executor: string;
  variant: string;
  onExecutor: (name: string) => void;
  onVariant: (name: string) => void;
}

/** The last one used if it still works, otherwise the first that does. */
export function firstExecutor(executors: readonly Executor[]): string {
  const last = rememberedExecutor();
  const works = executors.filter(({ available }) => available);
  const found = works.find(({ executor }) => executor === last) ?? works[0] ?? executors[0];
  return found?.executor ?? "";
}

export function ExecutorFields({ executors, executor, variant, onExecutor, onVariant }: ExecutorFieldsProps) {
  const chosen = executors.find((each) => each.executor === executor);
  const own = chosen?.default_variant ? `Default (${chosen.default_variant})` : "Default";
  return (
    <div className="flex flex-col gap-3.5">
      <ChoiceField
        label="Runs on"
        value={executor}
        onChange={onExecutor}
        options={executors.map((each) => ({
          value: each.executor,
          label: `${executorLabel(each.executor)}${each.available ? "" : " (not available)"}`,
        }))}
      />
      {chosen?.problem && (
        <p className="foreign -mt-2 flex gap-2 text-xs text-attention">
          <Icon name="stalled" className="mt-px size-3.5" />
          <ForeignText text={chosen.problem} />
        </p>
      )}
      {chosen?.limits && chosen.limits.length > 0 && (
        <p className="foreign -mt-2 text-xs text-muted">
          <ForeignText text={`It ${chosen.limits.join("; ")}.`} />
        </p>
      )}
      {chosen !== undefined && chosen.variants.length > 0 ? (
        <ChoiceField
          label="Agent"
          value={chosen.variants.includes(variant) ? variant : ""}
          onChange={onVariant}
          options={[{ value: "", label: own }, ...chosen.variants.map((name) => ({ value: name, label: name }))]}
        />
      ) : (
        <TextField label="Agent (optional)" value={variant} onChange={onVariant} placeholder={own} maxLength={200} />
      )}
    </div>
  );
}
