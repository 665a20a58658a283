/**
 * Resumes a completed task with one more prompt.
 */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { BackgroundTask } from "../../../src/client/schemas.ts";
import { Button } from "../parts/button.tsx";
import { PromptForm } from "../parts/prompt-form.tsx";
import { control } from "../server/page-client.ts";
import { queryKeys } from "../server/query-keys.ts";

export function ResumeForm({ task }: { task: BackgroundTask }) {
  const [prompt, setPrompt] = useState("");
  const queries = useQueryClient();
  const resume = useMutation({
    mutationFn: () => control((client) => client.resume(task.id, prompt)),
    onSuccess: (answer) => {
      setPrompt("");
      queries.setQueryData(queryKeys.task(task.id), answer);
    },
  });
  return (
    <PromptForm
      name="Resume"
      label="Resume with another prompt"
      placeholder="What should it do next? It remembers the conversation."
      prompt={prompt}
      onPrompt={setPrompt}
      onSubmit={() => !resume.isPending && resume.mutate()}
      failure={{ title: "The task was not resumed", error: resume.error }}
    >
      <Button type="submit" weight="primary" className="self-end" disabled={resume.isPending || prompt.trim() === ""}>
        {resume.isPending ? "Resuming…" : "Resume"}
      </Button>
    </PromptForm>
  );
}
