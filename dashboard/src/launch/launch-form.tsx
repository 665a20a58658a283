/**
 * The form of a launch. Shows the server's own words when it refuses.
 */
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { Instance } from "../../../src/client/schemas.ts";
import { Button } from "../parts/button.tsx";
import { FailureNote } from "../parts/failure-note.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { ChoiceField, type Option, TextField } from "../parts/form-fields.tsx";
import { navigate } from "../routing/location.ts";
import { taskPath } from "../routing/route.ts";
import { control } from "../server/page-client.ts";

interface LaunchFormProps {
  instances: readonly Instance[];
  isOff: boolean;
  onClose: () => void;
}

export function LaunchForm({ instances, isOff, onClose }: LaunchFormProps) {
  const [directory, setDirectory] = useState(instances[0]?.directory ?? "");
  const agents = instances.find((instance) => instance.directory === directory)?.agents ?? [];
  const [chosenAgent, setAgent] = useState("");
  const agent = agents.some(({ name }) => name === chosenAgent) ? chosenAgent : (agents[0]?.name ?? "");
  const [description, setDescription] = useState("");
  const [prompt, setPrompt] = useState("");
  const [batch, setBatch] = useState("");
  const launch = useMutation({
    mutationFn: () => {
      const named = batch.trim() === "" ? {} : { batch: batch.trim() };
      return control((client) => client.launch({ description, prompt, agent, directory, ...named }));
    },
    onSuccess: (task) => {
      onClose();
      navigate(taskPath(task.id));
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    launch.mutate();
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-3.5">
      <div className="grid gap-3.5 sm:grid-cols-2">
        <ChoiceField
          label="Directory"
          value={directory}
          onChange={setDirectory}
          options={optionsOf(instances.map((instance) => instance.directory))}
        />
        <ChoiceField
          label="Agent"
          value={agent}
          onChange={setAgent}
          options={optionsOf(agents.map(({ name }) => name))}
        />
      </div>
      <p className="-mt-2 text-xs text-muted">
        <ForeignText text={agents.find(({ name }) => name === agent)?.description ?? ""} />
      </p>
      <TextField
        label="Description"
        value={description}
        onChange={setDescription}
        placeholder="A few words"
        isRequired
      />
      <TextField label="Prompt" value={prompt} onChange={setPrompt} rows={5} isRequired />
      <TextField
        label="Batch (optional)"
        value={batch}
        onChange={setBatch}
        placeholder="Tasks with the same name belong together"
      />
      {launch.isError && <FailureNote title="The task was not launched" failure={launch.error} />}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Close</Button>
        <Button type="submit" weight="primary" disabled={isOff || launch.isPending}>
          {launch.isPending ? "Launching…" : "Launch"}
        </Button>
      </div>
    </form>
  );
}

function optionsOf(words: readonly string[]): Option[] {
  return [...new Set(words)].map((word) => ({ value: word, label: word }));
}
