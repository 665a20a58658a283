/**
 * Web Push: this browser gets notifications while the page is closed, if the server has a channel for it. Needs a
 * secure page: https, or this machine.
 */
import { control, readingClient } from "../server/page-client.ts";

const WORKER = "/push-worker.js";

export function canPush(): boolean {
  return window.isSecureContext && "serviceWorker" in navigator && "PushManager" in window;
}

/** False if the server sends nothing by Web Push. The browser has allowed notifications. */
export async function subscribeToPush(): Promise<boolean> {
  if (!canPush()) return false;
  const { publicKey } = await readingClient.pushKey();
  if (publicKey === null) return false;
  const registration = await navigator.serviceWorker.register(WORKER);
  const subscription = await registration.pushManager.subscribe({
    userVisibleOnly: true,
    applicationServerKey: publicKey,
  });
  const { endpoint = "", keys = {} } = subscription.toJSON();
  const { p256dh = "", auth = "" } = keys;
  await control((client) => client.subscribePush({ endpoint, p256dh, auth }));
  return true;
}

export async function unsubscribeFromPush(): Promise<void> {
  const registration = canPush() ? await navigator.serviceWorker.getRegistration(WORKER) : undefined;
  const subscription = await registration?.pushManager.getSubscription();
  if (!subscription) return;
  await subscription.unsubscribe();
  await control((client) => client.unsubscribePush({ endpoint: subscription.endpoint }));
}
