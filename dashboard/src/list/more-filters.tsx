/**
 * The filters that need typing: host, folder, and the times between which tasks started. They apply together, by a
 * button or Enter; what the server would refuse is said here.
 */
import { useState } from "react";
import { Form } from "../forms/form.tsx";
import { TextField } from "../forms/form-fields.tsx";
import { Button } from "../parts/button.tsx";
import { type Filters, listPath } from "../routing/filters.ts";
import { navigate } from "../routing/location.ts";
import { useInstances, useRecentTasks } from "../server/queries.ts";
import { MomentField } from "./moment-field.tsx";

export function MoreFilters({ filters, onClose }: { filters: Filters; onClose: () => void }) {
  const [host, setHost] = useState(filters.host);
  const [directory, setDirectory] = useState(filters.directory);
  const [from, setFrom] = useState(filters.from);
  const [to, setTo] = useState(filters.to);
  const known = useKnownPlaces();
  const problem = problemOf({ directory: directory.trim(), from, to });
  const apply = () => {
    if (problem !== null) return;
    const period = from === filters.from && to === filters.to ? filters.period : "";
    navigate(listPath({ ...filters, host: host.trim(), directory: directory.trim(), from, to, period }));
  };
  return (
    <section id="more-filters" aria-label="More filters" className="rounded-lg border border-line bg-surface p-3">
      <Form label="More filters" onSubmit={apply} className="flex flex-col gap-3">
        <div className="grid gap-3 sm:grid-cols-2 xl:grid-cols-[1fr_2fr_1fr_1fr]">
          <TextField label="Runs on" value={host} onChange={setHost} placeholder="Any host" suggestions={known.hosts} />
          <TextField
            label="In folder"
            value={directory}
            onChange={setDirectory}
            placeholder="/path/to/project, and everything below it"
            suggestions={known.directories}
            isMono
          />
          <MomentField label="Started from" value={from} onChange={setFrom} />
          <MomentField label="Started before" value={to} onChange={setTo} />
        </div>
        <div className="flex flex-wrap items-center gap-2">
          <p role="status" className="min-w-0 flex-1 text-error">
            {problem}
          </p>
          <Button onClick={onClose}>Close</Button>
          <Button type="submit" weight="primary" disabled={problem !== null}>
            Apply
          </Button>
        </div>
      </Form>
    </section>
  );
}

function problemOf({ directory, from, to }: Pick<Filters, "directory" | "from" | "to">): string | null {
  if (directory !== "" && !directory.startsWith("/")) return "A folder begins with “/”.";
  return from !== "" && to !== "" && from > to ? "The first time is after the second." : null;
}

function useKnownPlaces() {
  const recent = useRecentTasks().data?.tasks ?? [];
  const instances = useInstances().data ?? [];
  const places = [...instances, ...recent];
  return {
    hosts: [...new Set(places.map(({ host }) => host))],
    directories: [...new Set(places.map(({ directory }) => directory))],
  };
}
