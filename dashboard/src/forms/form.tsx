/**
 * The page's form element: Ctrl+Enter (or ⌘+Enter) submits it from every field, and in a dialog its first field has
 * the focus.
 */
import { type FormEvent, type KeyboardEvent, type ReactNode, useEffect, useRef } from "react";

const FIELDS = "input:not([type=hidden]), textarea, select";

interface FormProps {
  label?: string;
  onSubmit: () => void;
  className?: string;
  children: ReactNode;
}

export function Form({ label, onSubmit, className = "flex flex-col gap-3.5", children }: FormProps) {
  const element = useRef<HTMLFormElement>(null);
  useEffect(() => {
    const form = element.current;
    if (form?.closest("dialog")) form.querySelector<HTMLElement>(FIELDS)?.focus();
  }, []);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit();
  };
  const press = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    element.current?.requestSubmit();
  };
  return (
    <form ref={element} aria-label={label} onSubmit={submit} onKeyDown={press} className={className}>
      {children}
    </form>
  );
}
