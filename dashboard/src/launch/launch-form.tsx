/**
 * The form of a launch: in any folder, on any available host. Suggests known folders, and agents if they are known
 * before a host runs there. Shows the server's own message if it rejects the launch.
 */
import { useMutation } from "@tanstack/react-query";
import { forgetDraft, useDraft } from "../forms/draft.ts";
import { Form } from "../forms/form.tsx";
import { ChoiceField, TextField } from "../forms/form-fields.tsx";
import { Button } from "../parts/button.tsx";
import { FailureNote } from "../parts/failure-note.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { navigate } from "../routing/location.ts";
import { taskPath } from "../routing/route.ts";
import { control } from "../server/page-client.ts";
import { agentsAt, type LaunchPlaces } from "./launch-places.ts";

/** The initial values; empty if the user has to fill them in. */
export interface FirstLaunch {
  /** The key under which drafts are kept: one per task that is run again. */
  name: string;
  host: string;
  directory: string;
  agent: string;
  description: string;
  prompt: string;
}

interface LaunchFormProps {
  places: LaunchPlaces;
  first: FirstLaunch;
  isOff: boolean;
  onClose: () => void;
}

const FIELDS = ["host", "directory", "agent", "description", "prompt", "batch"] as const;

export function LaunchForm({ places, first, isOff, onClose }: LaunchFormProps) {
  const draft = (field: (typeof FIELDS)[number]) => `launch.${first.name}.${field}`;
  const [directory, setDirectory] = useDraft(draft("directory"), first.directory);
  const [host, setHost] = useDraft(draft("host"), first.host);
  const [agent, setAgent] = useDraft(draft("agent"), first.agent);
  const [description, setDescription] = useDraft(draft("description"), first.description);
  const [prompt, setPrompt] = useDraft(draft("prompt"), first.prompt);
  const [batch, setBatch] = useDraft(draft("batch"));
  const launch = useMutation({
    mutationFn: () => {
      const chosen = {
        ...(agent.trim() !== "" && { agent: agent.trim() }),
        ...(batch.trim() !== "" && { batch: batch.trim() }),
      };
      const body = {
        description: description.trim() || titleOf(prompt),
        prompt,
        host,
        directory: directory.trim(),
        ...chosen,
      };
      return control((client) => client.launch(body));
    },
    onSuccess: (task) => {
      for (const field of FIELDS) forgetDraft(draft(field));
      onClose();
      navigate(taskPath(task.id));
    },
  });
  const isReady = !isOff && prompt.trim() !== "" && directory.trim() !== "" && host !== "";
  return (
    <Form onSubmit={() => isReady && !launch.isPending && launch.mutate()}>
      <TextField label="Prompt" value={prompt} onChange={setPrompt} rows={5} isRequired />
      <TextField
        label="Folder"
        value={directory}
        onChange={setDirectory}
        suggestions={places.directories}
        placeholder="/path/to/project"
        hint="The absolute path of the folder to work in."
        isMono
        isRequired
      />
      <div className="grid gap-3.5 sm:grid-cols-2">
        <ChoiceField
          label="Runs on"
          value={host}
          onChange={setHost}
          options={places.hosts.map(({ host: value, label }) => ({ value, label }))}
        />
        <AgentField places={places} host={host} directory={directory.trim()} agent={agent} onAgent={setAgent} />
      </div>
      <Problem text={places.hosts.find((each) => each.host === host)?.problem ?? null} />
      <TextField
        label="Description (optional)"
        value={description}
        onChange={setDescription}
        placeholder={titleOf(prompt) || "A few words"}
      />
      <TextField
        label="Batch (optional)"
        value={batch}
        onChange={setBatch}
        placeholder="Tasks with the same name belong together"
      />
      {launch.isError && <FailureNote title="The task was not launched" failure={launch.error} />}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Close</Button>
        <Button type="submit" weight="primary" disabled={!isReady || launch.isPending}>
          {launch.isPending ? "Launching…" : "Launch"}
        </Button>
      </div>
    </Form>
  );
}

interface AgentFieldProps {
  places: LaunchPlaces;
  host: string;
  directory: string;
  agent: string;
  onAgent: (name: string) => void;
}

function AgentField({ places, host, directory, agent, onAgent }: AgentFieldProps) {
  const agents = agentsAt(places, host, directory);
  if (agents.length === 0) {
    return <TextField label="Agent (optional)" value={agent} onChange={onAgent} placeholder="The host’s default" />;
  }
  const names = agents.map(({ name }) => name);
  const described = agents.find(({ name }) => name === agent)?.description;
  return (
    <ChoiceField
      label="Agent"
      value={names.includes(agent) ? agent : ""}
      onChange={onAgent}
      options={[{ value: "", label: "Default" }, ...names.map((name) => ({ value: name, label: name }))]}
      {...(described && { hint: <ForeignText text={described} /> })}
    />
  );
}

function Problem({ text }: { text: string | null }) {
  if (text === null) return null;
  return (
    <p className="foreign -mt-2 text-xs text-attention">
      <ForeignText text={text} />
    </p>
  );
}

function titleOf(prompt: string): string {
  return (prompt.trim().split("\n")[0] ?? "").slice(0, 80);
}
