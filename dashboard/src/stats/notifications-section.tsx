/**
 * The channels for notifications, with what waits and what was not delivered, why, and a button that tries again. Not
 * shown where there are none.
 */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { WireChannel, WireNotification } from "../../../src/protocol/notifications.ts";
import { Button } from "../parts/button.tsx";
import { FailureNote } from "../parts/failure-note.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { Ago } from "../parts/times.tsx";
import { control } from "../server/page-client.ts";
import { useFailedNotifications } from "../server/queries.ts";
import { queryKeys } from "../server/query-keys.ts";
import { Allowed } from "../session/allowed.tsx";

export function NotificationsSection() {
  const { data, error, isError, refetch } = useFailedNotifications();
  if (isError) {
    return <FailureNote title="The notifications could not be loaded" failure={error} onRetry={() => void refetch()} />;
  }
  const { channels = [], notifications: failed = [] } = data ?? {};
  if (channels.length === 0 && failed.length === 0) return null;
  return (
    <>
      <h2 className="-mb-2 text-[15px] font-semibold">Notifications</h2>
      <section aria-label="Notifications" className="rounded-xl border border-line bg-surface">
        <ul>
          {channels.map((channel) => (
            <ChannelRow key={channel.name} channel={channel} />
          ))}
          {failed.map((notification) => (
            <FailedRow key={notification.id} notification={notification} />
          ))}
        </ul>
      </section>
    </>
  );
}

function ChannelRow({ channel: { name, target, problem, pending, held, failed } }: { channel: WireChannel }) {
  const counts = [`${pending} pending`, `${held} held`, `${failed} failed`];
  return (
    <li data-channel={name} className="flex flex-wrap gap-x-4 border-b border-line/70 px-4 py-2.5 last:border-0">
      <span className="foreign font-medium">
        <ForeignText text={name} />
      </span>
      <span className="foreign text-muted">
        <ForeignText text={target} />
      </span>
      <span className={`ml-auto ${failed > 0 ? "text-error" : "text-muted"}`}>{counts.join(", ")}</span>
      {problem !== null && (
        <p className="foreign w-full text-xs text-error">
          cannot be used: <ForeignText text={problem} />
        </p>
      )}
    </li>
  );
}

function FailedRow({ notification }: { notification: WireNotification }) {
  const { id, channel, title, reason, attempts, createdAt } = notification;
  const queries = useQueryClient();
  const retry = useMutation({
    mutationFn: () => control((client) => client.retryNotification(id)),
    onSettled: () => queries.invalidateQueries({ queryKey: queryKeys.failedNotifications }),
  });
  return (
    <li data-notification={id} className="flex items-start gap-4 border-b border-line/70 px-4 py-2.5 last:border-0">
      <div className="min-w-0 grow">
        <p className="foreign truncate">
          <ForeignText text={title} />
        </p>
        <p className="foreign text-xs text-error">
          not delivered to <ForeignText text={channel} /> in {attempts} tries:{" "}
          <ForeignText text={reason ?? "unknown"} />
        </p>
        {retry.isError && (
          <FailureNote title="It could not be tried again" failure={retry.error} onRetry={() => retry.mutate()} />
        )}
      </div>
      <span className="shrink-0 text-xs text-faint">
        <Ago at={createdAt} />
      </span>
      <Allowed to="retryNotification">
        <Button disabled={retry.isPending} onClick={() => retry.mutate()}>
          Try again
        </Button>
      </Allowed>
    </li>
  );
}
