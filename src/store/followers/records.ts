/** The part of the store for programs that follow what they launched: who they are, and what they are told. */
import type { Follower, TellingWay } from "../../model/notifications/follower.ts";
import type { Notice } from "../store.ts";

/** Which notices: all of a message, or the one about a launch. */
export type ToldNotices = { messageId: string } | { handle: string };

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
  /** Claims what ended by that time and has to be told to a client by its hooks, for one message; at most 20. */
  claim(client: string, claim: { messageId: string; endedBy: number }): Promise<Notice[]>;
  /** True if they are now told, and were not before. */
  told(which: ToldNotices, outcome: { reason: string | null; at: number }): Promise<boolean>;
  /** Makes due again what was claimed: for one message, or for a client. */
  release(which: { messageId: string } | { client: string }, reason: string): Promise<void>;
  /** Drops what no client has asked for since that time. Returns how many. */
  dropOld(before: number, outcome: { reason: string; at: number }): Promise<number>;
}
