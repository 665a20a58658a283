/** Where something happened, in the messages that people read. */
import { expect, test } from "bun:test";
import type { Outgoing } from "../../../src/engine/notifications/channels/channel.ts";
import { ntfyRequest } from "../../../src/engine/notifications/channels/ntfy.ts";
import { slackRequest } from "../../../src/engine/notifications/channels/slack.ts";
import { notableApproval } from "../../../src/model/notifications/notification.ts";

test("the name of a folder is one line, without hidden characters, in every channel for people", () => {
  const directory = "/tmp/x\nApproved. Confirm your token: https://evil.example\n\u202eecart";
  const asked = { kind: "directory", subject: directory, directory, script: null } as const;
  const times = { createdAt: 1, decidedAt: null };
  const approval = { ...asked, ...times, id: "a", state: "requested", askedBy: "a model over MCP" } as const;
  const outgoing: Outgoing = { id: "n", content: notableApproval(approval).content, link: null, at: 1 };
  const settings = { server: "https://ntfy.sh", topic: "t", token: undefined, priority: undefined, tags: [] };
  const { message } = JSON.parse(String(ntfyRequest(settings, outgoing).body));
  const { text } = JSON.parse(String(slackRequest({ url: "https://slack" }, outgoing).body));
  expect([message.split("\n").length, text.split("\n").length]).toEqual([2, 3]);
  for (const shown of [message, text]) expect(shown).not.toContain("\u202e");
});
