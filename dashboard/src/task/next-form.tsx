/**
 * The actions on an ended task: continue with another prompt, continue in a copy of it, or run it again unchanged or
 * with another prompt. The server says what the host or a setting does not allow.
 */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import type { BackgroundTask } from "../../../src/protocol/tasks.ts";
import { useDraft } from "../forms/draft.ts";
import { PromptForm } from "../forms/prompt-form.tsx";
import { LaunchDialog } from "../launch/launch-dialog.tsx";
import { useActions } from "../palette/actions.ts";
import { Button } from "../parts/button.tsx";
import { FailureNote } from "../parts/failure-note.tsx";
import { navigate } from "../routing/location.ts";
import { taskPath } from "../routing/route.ts";
import { control, readingClient } from "../server/page-client.ts";
import { queryKeys } from "../server/query-keys.ts";

export function NextForm({ task }: { task: BackgroundTask }) {
  const [prompt, setPrompt] = useDraft(`next.${task.id}`);
  const queries = useQueryClient();
  const resume = useMutation({
    mutationFn: () => control((client) => client.resume(task.id, prompt)),
    onSuccess: () => {
      setPrompt("");
      // Read again: the answer may be older than what the stream has reported meanwhile.
      void queries.invalidateQueries({ queryKey: [...queryKeys.task(task.id)] });
    },
  });
  const fork = useMutation({
    mutationFn: () => control((client) => client.fork(task.id, { prompt })),
    onSuccess: ({ id }) => {
      setPrompt("");
      navigate(taskPath(id));
    },
  });
  const [again, setAgain] = useState<BackgroundTask | null>(null);
  // A prompt from an event may be shortened; a repeated prompt must be complete.
  const repeat = useMutation({ mutationFn: () => readingClient.task(task.id), onSuccess: setAgain });
  const isPending = resume.isPending || fork.isPending;
  const box = useRef<HTMLDivElement>(null);
  useActions([
    {
      id: "resume",
      label: "Resume this task with another prompt",
      run: () => box.current?.querySelector("textarea")?.focus(),
    },
    { id: "again", label: "Run this task again…", run: () => repeat.mutate() },
  ]);
  const isReady = !isPending && prompt.trim() !== "";
  return (
    <div ref={box} className="flex flex-col gap-6">
      <PromptForm
        name="Resume"
        label={task.status === "completed" ? "Resume with another prompt" : "Continue from here"}
        placeholder="What should it do next? It remembers the conversation."
        prompt={prompt}
        onPrompt={setPrompt}
        onSubmit={() => isReady && resume.mutate()}
        failure={
          fork.error === null
            ? { title: "The task was not resumed", error: resume.error }
            : { title: "The task was not forked", error: fork.error }
        }
      >
        <div className="flex flex-wrap items-center gap-2">
          <Button
            title="A new task with the same prompt, which you can edit first"
            disabled={repeat.isPending}
            onClick={() => repeat.mutate()}
          >
            Run again…
          </Button>
          <Button
            className="ml-auto"
            title="A new task that knows this conversation; this one stays unchanged"
            disabled={!isReady}
            onClick={() => {
              resume.reset();
              fork.mutate();
            }}
          >
            {fork.isPending ? "Forking…" : "Fork"}
          </Button>
          <Button type="submit" weight="primary" disabled={!isReady} onClick={() => fork.reset()}>
            {resume.isPending ? "Resuming…" : "Resume"}
          </Button>
        </div>
      </PromptForm>
      {repeat.isError && <FailureNote title="The prompt could not be loaded" failure={repeat.error} />}
      {again !== null && <LaunchDialog again={again} onClose={() => setAgain(null)} />}
    </div>
  );
}
