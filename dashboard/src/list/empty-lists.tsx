/**
 * Shown instead of an empty list, with what to do about it.
 */
import { Button } from "../parts/button.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { Icon } from "../parts/icons.tsx";
import { Allowed } from "../session/allowed.tsx";

export function EmptyList({ onLaunch }: { onLaunch: () => void }) {
  return (
    <EmptyState title="No tasks yet" isTitle={false}>
      <p>In OpenCode, ask the agent to run something in the background, or press “Launch”.</p>
      <p>A task shows up here the moment it starts.</p>
      <Allowed to="launch">
        <Button weight="primary" className="mt-3" onClick={onLaunch}>
          <Icon name="plus" />
          Launch a task
        </Button>
      </Allowed>
    </EmptyState>
  );
}

export function NoMatch({ onClear }: { onClear: () => void }) {
  return (
    <EmptyState title="No task matches these filters" isTitle={false}>
      <p>Tasks that come to match will appear here by themselves.</p>
      <Button className="mt-3" onClick={onClear}>
        Clear filters
      </Button>
    </EmptyState>
  );
}
