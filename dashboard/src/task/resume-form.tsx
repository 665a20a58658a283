/**
 * Resumes a completed task with one more prompt.
 */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";
import type { BackgroundTask } from "../../../src/client/schemas.ts";
import { Button } from "../parts/button.tsx";
import { FailureNote } from "../parts/failure-note.tsx";
import { control } from "../server/page-client.ts";
import { queryKeys } from "../server/query-keys.ts";

export function ResumeForm({ task }: { task: BackgroundTask }) {
  const [prompt, setPrompt] = useState("");
  const fieldId = useId();
  const queries = useQueryClient();
  const resume = useMutation({
    mutationFn: () => control((client) => client.resume(task.id, prompt)),
    onSuccess: (answer) => {
      setPrompt("");
      queries.setQueryData(queryKeys.task(task.id), answer);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (prompt.trim() !== "") resume.mutate();
  };
  return (
    <form
      aria-label="Resume"
      onSubmit={submit}
      className="flex flex-col gap-2 rounded-lg border border-line bg-surface p-3"
    >
      <label htmlFor={fieldId} className="font-medium">
        Resume with another prompt
      </label>
      <textarea
        id={fieldId}
        value={prompt}
        onChange={(event) => setPrompt(event.target.value)}
        rows={2}
        placeholder="What should it do next? It remembers the conversation."
        className="min-h-16 resize-y rounded-md bg-page px-2.5 py-2 ring-1 ring-strong-line ring-inset placeholder:text-faint"
      />
      {resume.isError && <FailureNote title="The task was not resumed" failure={resume.error} />}
      <Button type="submit" weight="primary" className="self-end" disabled={resume.isPending || prompt.trim() === ""}>
        {resume.isPending ? "Resuming…" : "Resume"}
      </Button>
    </form>
  );
}
