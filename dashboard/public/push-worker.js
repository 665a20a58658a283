/**
 * Shows notifications that come by Web Push, also while the page is closed, and opens the page on a click. The same id
 * replaces what is shown. All text is plain.
 */
self.addEventListener("push", (event) => {
  const { id, title, text, path } = event.data.json();
  event.waitUntil(self.registration.showNotification(title, { body: text, tag: id, data: { path } }));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(self.clients.openWindow(event.notification.data.path));
});
