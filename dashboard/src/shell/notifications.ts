/**
 * Desktop notifications about ended tasks and about what tasks ask, while the page is hidden, if the user asked for
 * them. Asks for the browser's permission only on that click.
 */
import type { TaskEventName } from "../../../src/protocol/task-event-names.ts";
import type { BackgroundTask } from "../../../src/protocol/tasks.ts";
import { StoredChoice } from "../browser/stored-choice.ts";
import type { FeedListener } from "../live/live-feed.ts";
import { TurningPoints } from "../live/turning-points.ts";
import { navigate } from "../routing/location.ts";
import { taskPath } from "../routing/route.ts";
import { visibleText } from "../wording/hidden-characters.ts";
import { subscribeToPush, unsubscribeFromPush } from "./push.ts";

export const notificationChoice = new StoredChoice("asyncagents.notifications", ["off", "on"], "off");

const ENDS: Partial<Record<TaskEventName, string>> = {
  "task.completed": "Completed",
  "task.error": "Failed",
  "task.cancelled": "Cancelled",
};

/** Null if they are on now; otherwise why not. */
export async function turnNotificationsOn(): Promise<string | null> {
  if (!("Notification" in window)) return "This browser has no notifications.";
  const permission = await Notification.requestPermission();
  if (permission !== "granted") return "The browser does not allow notifications for this page.";
  notificationChoice.choose("on");
  // The browser's own service may be unreachable; the open page still notifies.
  return subscribeToPush().then(
    () => null,
    (failure: Error) => `Only while this page is open: ${failure.message}`,
  );
}

export function turnNotificationsOff(): void {
  notificationChoice.choose("off");
  void unsubscribeFromPush().catch(() => {});
}

export function areNotificationsOn(choice: string): boolean {
  return choice === "on" && "Notification" in window && Notification.permission === "granted";
}

const requests = new TurningPoints(({ phaseDetail: detail }) =>
  detail?.kind === "waiting" ? detail.requestId : detail?.kind === "blocked" ? detail.by : "",
);

export const notifications: FeedListener = {
  onSnapshot: ({ tasks }) => requests.begin(tasks),
  onChange(type, task) {
    const isAsking = requests.hasTurned(task) && task.phase === "waiting";
    const word = isAsking ? "Needs you" : ENDS[type];
    if (!word || !document.hidden || !areNotificationsOn(notificationChoice.value())) return;
    notify(word, task);
  },
};

function bodyOf({ phaseDetail: detail, error, result, agent }: BackgroundTask): string {
  return detail?.kind === "waiting" || detail?.kind === "blocked" ? detail.text : (error ?? result ?? agent);
}

function notify(word: string, task: BackgroundTask): void {
  const shown = new Notification(visibleText(`${word}: ${task.description}`), {
    body: visibleText(bodyOf(task).slice(0, 160)),
    tag: `${task.id}/${task.run.number}/${word}`,
  });
  shown.onclick = () => {
    window.focus();
    navigate(taskPath(task.id));
    shown.close();
  };
}
