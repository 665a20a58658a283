/**
 * The form of a launch. Shows the server's own words when it refuses.
 */
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useId, useState } from "react";
import type { Instance } from "../../../src/client/schemas.ts";
import { Button } from "../parts/button.tsx";
import { FailureNote } from "../parts/failure-note.tsx";
import { navigate } from "../routing/location.ts";
import { taskPath } from "../routing/route.ts";
import { control } from "../server/page-client.ts";

const FIELD = "w-full rounded-md bg-page px-2.5 py-1.5 ring-1 ring-strong-line ring-inset placeholder:text-faint";

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
        <Choice
          label="Directory"
          value={directory}
          onChange={setDirectory}
          options={instances.map((instance) => instance.directory)}
        />
        <Choice label="Agent" value={agent} onChange={setAgent} options={agents.map(({ name }) => name)} />
      </div>
      <p className="-mt-2 text-xs text-muted">{agents.find(({ name }) => name === agent)?.description}</p>
      <Text label="Description" value={description} onChange={setDescription} placeholder="A few words" isRequired />
      <Field label="Prompt">
        {(id) => (
          <textarea
            id={id}
            required
            rows={5}
            value={prompt}
            onChange={(event) => setPrompt(event.target.value)}
            className={`${FIELD} resize-y`}
          />
        )}
      </Field>
      <Text
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

function Field({ label, children }: { label: string; children: (id: string) => ReactNode }) {
  const id = useId();
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label htmlFor={id} className="font-medium">
        {label}
      </label>
      {children(id)}
    </div>
  );
}

interface TextProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  placeholder: string;
  isRequired?: boolean;
}

function Text({ label, value, onChange, placeholder, isRequired = false }: TextProps) {
  return (
    <Field label={label}>
      {(id) => (
        <input
          id={id}
          required={isRequired}
          autoComplete="off"
          placeholder={placeholder}
          value={value}
          onChange={(event) => onChange(event.target.value)}
          className={FIELD}
        />
      )}
    </Field>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  options: readonly string[];
}

function Choice({ label, value, onChange, options }: ChoiceProps) {
  return (
    <Field label={label}>
      {(id) => (
        <select id={id} value={value} onChange={(event) => onChange(event.target.value)} className={FIELD}>
          {[...new Set(options)].map((option) => (
            <option key={option}>{option}</option>
          ))}
        </select>
      )}
    </Field>
  );
}
