/**
 * What a channel is: a name, and how a notification becomes an HTTP request for it. Targets come from the settings
 * only, never from what is told. Sends nothing.
 */
import type { NotificationContent } from "../../../model/notifications/notification.ts";
import { asLine } from "../../../model/text/foreign-text.ts";
import type { ChannelType } from "../notification-settings.ts";

/** What goes out. */
export interface Outgoing {
  /** The same for every attempt. */
  id: string;
  content: NotificationContent;
  /** The page about it; null if no public address is configured. It works only with a token. */
  link: string | null;
  /** When it is sent. */
  at: number;
}

export interface ChannelRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string | Uint8Array<ArrayBuffer>;
}

/** One receiver of a channel. */
export interface ChannelTarget {
  /** Different for each receiver of the channel. */
  key: string;
  request(outgoing: Outgoing): ChannelRequest;
  /** Called if the receiver says that it is gone for good; absent if that is a failure like any other. */
  gone?(): Promise<void>;
}

export interface Channel {
  name: string;
  type: ChannelType;
  /** Where it goes, for people, without anything secret. */
  target: string;
  hasDetails: boolean;
  heedsQuietHours: boolean;
  /** Many at once become a summary: people read it, not a program. */
  isForPeople: boolean;
  /** Who gets it; null if the channel cannot be used: then `problem` says why. */
  targets: ((now: number) => Promise<readonly ChannelTarget[]>) | null;
  problem: string | null;
}

const PLACE_CHARS = 400;

/** Who did it and where, as one line; empty if it belongs to no task. Agents may have made and named the folder. */
export function placeLine({ agent, directory }: NotificationContent): string {
  const place = agent === null ? directory : directory === "" ? agent : `${agent} in ${directory}`;
  return asLine(place, PLACE_CHARS);
}
