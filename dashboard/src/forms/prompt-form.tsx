/** A text box for telling an agent what to do next; the caller provides the actions. */
import { type ReactNode, useId } from "react";
import { FailureNote } from "../parts/failure-note.tsx";
import { Form } from "./form.tsx";

const MAX_CHARACTERS = 200_000;

interface PromptFormProps {
  name: string;
  label: string;
  placeholder: string;
  prompt: string;
  onPrompt: (prompt: string) => void;
  /** Only called if the box is not empty. */
  onSubmit: () => void;
  failure: { title: string; error: Error | null };
  /** The buttons. */
  children: ReactNode;
}

export function PromptForm(props: PromptFormProps) {
  const { name, label, placeholder, prompt, onPrompt, onSubmit, failure, children } = props;
  const fieldId = useId();
  return (
    <Form
      label={name}
      onSubmit={() => {
        if (prompt.trim() !== "") onSubmit();
      }}
      className="flex flex-col gap-2 rounded-lg border border-line bg-surface p-3"
    >
      <label htmlFor={fieldId} className="font-medium">
        {label}
      </label>
      <textarea
        id={fieldId}
        value={prompt}
        onChange={(event) => onPrompt(event.target.value)}
        rows={2}
        maxLength={MAX_CHARACTERS}
        placeholder={placeholder}
        className="min-h-16 resize-y rounded-md bg-page px-2.5 py-2 ring-1 ring-strong-line ring-inset placeholder:text-faint"
      />
      {failure.error !== null && <FailureNote title={failure.title} failure={failure.error} />}
      {children}
    </Form>
  );
}
