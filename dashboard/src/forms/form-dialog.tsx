/**
 * A dialog with one form: shows the server's error message on failure, and closes on success.
 */
import type { ReactNode } from "react";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { FailureNote } from "../parts/failure-note.tsx";
import { Form } from "./form.tsx";

interface FormDialogProps {
  title: string;
  /** The button's label, and its label while the action is in progress. */
  labels: readonly [string, string];
  act: { mutate: () => void; isPending: boolean; error: unknown };
  isReady?: boolean;
  isDangerous?: boolean;
  /** Replaces the error message. */
  failure?: ReactNode;
  onClose: () => void;
  children: ReactNode;
}

export function FormDialog(props: FormDialogProps) {
  const { title, labels, act, isReady = true, isDangerous = false, failure, onClose, children } = props;
  const submit = () => {
    if (isReady && !act.isPending) act.mutate();
  };
  const note = failure ?? <FailureNote title="That did not work" failure={act.error} />;
  return (
    <Dialog title={title} onClose={onClose}>
      <Form onSubmit={submit}>
        {children}
        {act.error !== null && act.error !== undefined && note}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Close</Button>
          <Button type="submit" weight={isDangerous ? "danger" : "primary"} disabled={!isReady || act.isPending}>
            {act.isPending ? labels[1] : labels[0]}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
