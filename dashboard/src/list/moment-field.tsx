/**
 * A field for a date and time, typed in the person's own time zone and given as ISO 8601; empty if there is none.
 */
import { FIELD, Field } from "../forms/form-fields.tsx";

interface MomentFieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
}

export function MomentField({ label, value, onChange }: MomentFieldProps) {
  return (
    <Field label={label}>
      {(id) => (
        <input
          id={id}
          type="datetime-local"
          value={localText(value)}
          onChange={(event) => onChange(isoText(event.target.value))}
          className={FIELD}
        />
      )}
    </Field>
  );
}

/** As the browser's field wants it: local, without a zone. */
function localText(iso: string): string {
  if (iso === "") return "";
  const time = new Date(iso);
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function isoText(local: string): string {
  const time = new Date(local);
  return Number.isNaN(time.getTime()) ? "" : time.toISOString();
}
