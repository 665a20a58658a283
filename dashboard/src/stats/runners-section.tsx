/**
 * The runners of all machines: load, hosts, labels, versions, when each was last heard of, and what it lacks. Not shown
 * where there are none. On narrow screens the table scrolls, not the page.
 */
import type { ServerRunner } from "../../../src/protocol/runners.ts";
import { FailureNote } from "../parts/failure-note.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { Ago } from "../parts/times.tsx";
import { useRunners } from "../server/queries.ts";

const STATES: Record<ServerRunner["state"], { text: string; colour: string }> = {
  running: { text: "running", colour: "text-completed" },
  draining: { text: "draining", colour: "text-attention" },
  ended: { text: "ended", colour: "text-muted" },
  gone: { text: "gone", colour: "text-error" },
};

export function RunnersSection() {
  const { data: runners = [], error, isError, refetch } = useRunners();
  if (isError) {
    return <FailureNote title="The runners could not be loaded" failure={error} onRetry={() => void refetch()} />;
  }
  if (runners.length === 0) return null;
  return (
    <>
      <h2 className="-mb-2 text-[15px] font-semibold">Runners</h2>
      <section
        aria-label="Runners"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls on narrow screens, also by keys.
        tabIndex={0}
        className="overflow-x-auto rounded-xl border border-line bg-surface"
      >
        <table className="w-full text-left whitespace-nowrap">
          <thead>
            <tr className="border-b border-line text-xs text-faint">
              {["Machine", "State", "Load", "Hosts", "Labels", "Version", "Last heard of"].map((name) => (
                <th scope="col" key={name} className="px-4 py-2 font-normal">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {runners.map((runner) => (
              <RunnerRow key={runner.id} runner={runner} />
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}

function RunnerRow({ runner }: { runner: ServerRunner }) {
  const { text, colour } = STATES[runner.state];
  const isLiving = runner.state === "running" || runner.state === "draining";
  return (
    <tr data-runner={runner.id} className="border-b border-line/70 align-top last:border-0 hover:bg-raised/60">
      <th scope="row" className="foreign px-4 py-2.5 font-medium">
        <ForeignText text={runner.hostname} />
        <div className="font-mono text-[11px] font-normal text-faint">{runner.id.slice(0, 12)}</div>
      </th>
      <td className={`px-4 py-2.5 ${colour}`}>{text}</td>
      <td className="px-4 py-2.5">{isLiving && <Load load={runner.load} max={runner.max} />}</td>
      <td className="foreign px-4 py-2.5 text-muted">
        <ForeignText text={runner.hosts.join(", ")} />
        {isLiving && <Lacks lacks={runner.lacks} />}
      </td>
      <td className="foreign px-4 py-2.5 text-muted">
        <ForeignText text={runner.labels.join(", ") || "–"} />
      </td>
      <td className="foreign px-4 py-2.5 text-muted">
        <ForeignText text={runner.version} />
      </td>
      <td className="px-4 py-2.5 text-muted">
        <Ago at={runner.lastBeat} />
      </td>
    </tr>
  );
}

function Load({ load, max }: Pick<ServerRunner, "load" | "max">) {
  const share = max === 0 ? 0 : Math.min(1, load / max);
  return (
    <div className="flex items-center gap-2">
      <div aria-hidden className="h-1.5 w-16 overflow-hidden rounded-full bg-raised">
        <div className="h-full rounded-full bg-accent" style={{ width: `${share * 100}%` }} />
      </div>
      {load} of {max}
    </div>
  );
}

function Lacks({ lacks }: Pick<ServerRunner, "lacks">) {
  return lacks.map(({ kind, name, reason }) => (
    <p key={`${kind} ${name}`} className="mt-1 max-w-[30rem] min-w-60 text-xs whitespace-normal text-error">
      lacks the {kind} <ForeignText text={name} />: <ForeignText text={reason} />
    </p>
  ));
}
