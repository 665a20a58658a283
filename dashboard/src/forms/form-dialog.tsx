/**
 * A dialog that holds one form: says what went wrong in the server's words and closes when its deed is done.
 */
import type { ReactNode } from "react";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { FailureNote } from "../parts/failure-note.tsx";
import { Form } from "./form.tsx";

interface FormDialogProps {
  title: string;
  /** What the button says, and says while it is under way. */
  deed: readonly [string, string];
  act: { mutate: () => void; isPending: boolean; error: unknown };
  isReady?: boolean;
  isDangerous?: boolean;
  /** Stands in for the note of a failure. */
  failure?: ReactNode;
  onClose: () => void;
  children: ReactNode;
}

export function FormDialog(props: FormDialogProps) {
  const { title, deed, act, isReady = true, isDangerous = false, failure, onClose, children } = props;
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
            {act.isPending ? deed[1] : deed[0]}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
