/** The part of the store for programs that follow what they launched: who they are, and what they are told. */
import type { Follower, TellingWay } from "../../model/notifications/follower.ts";
import type { Notice } from "../store.ts";

/** Which notices: all of a message, or the one about a launch. */
export type ToldNotices = { messageId: string } | { handle: string };

export interface EndClaim {
  messageId: string;
  at: number;
  /** What ended less than this before is left alone. What seems to end later does not: the clock was set back. */
  graceMs: number;
  /** Names the process that tells it; null if it is not known. */
  sender: string | null;
}

export interface FollowerRecords {
  /** The first one stays. Its notice is written with the end; if that has come already, at once. */
  add(follower: Follower, at: number): Promise<void>;
  get(handle: string): Promise<Follower | null>;
  /** The one that launched with that call; null if there is none. */
  ofCall(callId: string): Promise<Follower | null>;
  /** Changes who is told, or how; what was not told yet is for the new one. */
  change(handle: string, change: { client?: string; way?: TellingWay }): Promise<void>;
  /** What a client follows and has not been told about; at most 200. */
  open(client: string): Promise<Follower[]>;
  /** Claims what a client has to be told by its hooks, for one message; at most 20. */
  claim(client: string, claim: EndClaim): Promise<Notice[]>;
  /** The messages that were claimed for a client, and not told yet; at most 50, the oldest first. */
  claimed(client: string): Promise<Pick<EndClaim, "messageId" | "sender">[]>;
  /** True if they are now told, and were not before. */
  told(which: ToldNotices, outcome: { reason: string | null; at: number }): Promise<boolean>;
  /** Makes due again what was claimed for one message. */
  release(messageId: string, reason: string): Promise<void>;
  /** Drops what no client has asked for since that time. Returns how many. */
  dropOld(before: number, outcome: { reason: string; at: number }): Promise<number>;
}
