/**
 * The form fields of the page: each with its own label, all in one style.
 */
import { type ReactNode, useId } from "react";
import { ForeignText } from "../parts/foreign-text.tsx";
import { visibleText } from "../wording/hidden-characters.ts";

export const FIELD =
  "w-full rounded-md bg-page px-2.5 py-1.5 ring-1 ring-strong-line ring-inset placeholder:text-faint disabled:opacity-60";

interface FieldProps {
  label: string;
  hint?: ReactNode;
  children: (id: string, hintId: string | undefined) => ReactNode;
}

export function Field({ label, hint, children }: FieldProps) {
  const id = useId();
  const hintId = hint === undefined ? undefined : `${id}-hint`;
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label htmlFor={id} className="font-medium">
        <ForeignText text={label} />
      </label>
      {children(id, hintId)}
      {hintId !== undefined && (
        <p id={hintId} className="text-xs text-muted">
          {hint}
        </p>
      )}
    </div>
  );
}

interface TextFieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  placeholder?: string;
  hint?: ReactNode;
  maxLength?: number;
  isRequired?: boolean;
  isMono?: boolean;
  /** Suggestions while typing; only in a single-line field. */
  suggestions?: readonly string[];
  /** The number of visible lines; one by default. */
  rows?: number;
}

export function TextField({ label, hint, rows, isMono = false, isRequired = false, ...field }: TextFieldProps) {
  const look = `${FIELD} ${isMono ? "font-mono text-xs leading-5" : ""}`;
  return (
    <Field label={label} {...(hint === undefined ? {} : { hint })}>
      {(id, hintId) => {
        const given = {
          id,
          required: isRequired,
          value: field.value,
          placeholder: field.placeholder === undefined ? undefined : visibleText(field.placeholder),
          maxLength: field.maxLength,
          "aria-describedby": hintId,
        };
        return rows === undefined ? (
          <>
            <input
              {...given}
              autoComplete="off"
              list={field.suggestions && `${id}-list`}
              onChange={(event) => field.onChange(event.target.value)}
              className={look}
            />
            {field.suggestions && (
              <datalist id={`${id}-list`}>
                {field.suggestions.map((text) => (
                  <option key={text} value={text} />
                ))}
              </datalist>
            )}
          </>
        ) : (
          <textarea
            {...given}
            rows={rows}
            onChange={(event) => field.onChange(event.target.value)}
            className={`${look} resize-y`}
          />
        );
      }}
    </Field>
  );
}

export interface Option {
  value: string;
  label: string;
}

interface ChoiceFieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  options: readonly Option[];
  hint?: ReactNode;
}

export function ChoiceField({ label, value, onChange, options, hint }: ChoiceFieldProps) {
  return (
    <Field label={label} {...(hint === undefined ? {} : { hint })}>
      {(id, hintId) => (
        <select
          id={id}
          value={value}
          aria-describedby={hintId}
          onChange={(event) => onChange(event.target.value)}
          className={FIELD}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {visibleText(option.label)}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
