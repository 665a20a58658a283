/** The rules of a live run one by one; properties.test.ts holds what is true of all of them together. */
import { describe, expect, test } from "bun:test";
import { NO_OUTPUT, noEvidence, SESSION_DELETED } from "../../../src/model/evidence.ts";
import type { InspectPurpose } from "../../../src/model/live-run/effects.ts";
import { adopt } from "../../../src/model/live-run/handover.ts";
import type { RunInput } from "../../../src/model/live-run/inputs.ts";
import type { Task } from "../../../src/model/task.ts";
import type { NoticeIntent } from "../../../src/model/transition.ts";
import { after, begun, effectsOf, type Happening, polled, shown, wordOf } from "./steps.ts";
import { LIMITS, sampleRun, sampleTask } from "./walk.ts";

/** How long a host may take to begin, and how long a prompt is searched for. */
const BEGIN_MS = 20_000;
const DOUBT_MS = 60_000;

const doubted: Happening[] = [{ type: "turn.came" }, { type: "prompt.unanswered", error: "no answer" }];
const cancel: RunInput = { type: "cancel", reason: "enough" };
const status = (askedAt = Number.MAX_SAFE_INTEGER): RunInput => ({ type: "status.read", status: null, askedAt });
const busy: RunInput = { type: "status.read", status: { state: "busy" }, askedAt: Number.MAX_SAFE_INTEGER };
const asked = (requestId: string): RunInput => ({ type: "session.asked", requestId, asks: "question", text: "?" });
const answered = (...requestIds: string[]): RunInput => ({ type: "session.answered", requestIds, answer: null });

describe("the prompt", () => {
  test("is sent when the turn comes; a fork's history is cut first", () => {
    expect(effectsOf(after(sampleRun(), { type: "turn.delayed" }))).toEqual(["queued"]);
    expect(effectsOf(after(sampleRun(), { type: "turn.delayed" }, { type: "turn.came" }))).toEqual([
      "starting",
      "prompt",
    ]);
    const fork = sampleRun({ isForked: true });
    expect(effectsOf(after(fork, { type: "turn.came" }))).toEqual(["condense"]);
    expect(effectsOf(after(fork, { type: "turn.came" }, { type: "condensed" }))).toEqual(["prompt"]);
    expect(effectsOf(after(fork, { type: "turn.came" }, cancel, { type: "condensed" }))).toEqual([]);
    const broken: RunInput = { type: "condense.failed", error: "too long" };
    expect(effectsOf(after(fork, { type: "turn.came" }, broken))).toEqual(["error: too long"]);
  });

  test("once accepted, makes the run work, unless something was asked before that", () => {
    expect(effectsOf(after(sampleRun(), ...begun))).toEqual(["working", "poll"]);
    const early = after(sampleRun(), { type: "turn.came" }, asked("r"), { type: "prompt.accepted" });
    expect([early.run.phase, effectsOf(early)]).toEqual(["waiting", ["poll"]]);
  });

  test("if an end was heard before it was accepted, the session is inspected after that", () => {
    const heard = after(sampleRun(), { type: "turn.came" }, { type: "session.idle" });
    expect(effectsOf(heard)).toEqual([]);
    expect(effectsOf(after(heard.run, { type: "prompt.accepted" }))).toEqual(["working", "inspect hint", "poll"]);
  });

  test("what was heard before it left, also the death of a program, is not about it", () => {
    const waited: Happening[] = [
      { type: "turn.came" },
      { type: "host.ended", reason: "gone" },
      { type: "session.idle" },
    ];
    const sent = after(sampleRun(), ...waited, { type: "prompt.sending" }, { type: "prompt.accepted" });
    expect(effectsOf(sent)).toEqual(["working", "poll"]);
    expect([sent.run.announced, sent.run.isHostDead, sent.run.idleHeardAt]).toEqual([null, false, null]);
    const idle = after(sent.run, [11_000, shown("status", {}, 10_500)]);
    expect(idle.run.ending).toBeNull();
    const died = after(sent.run, { type: "host.ended", reason: "gone" });
    expect([died.run.isHostDead, effectsOf(died)]).toEqual([true, ["inspect host.ended"]]);
  });

  test("accepted while the run is being stopped, is stopped too", () => {
    const late = after(sampleRun(), { type: "turn.came" }, cancel, { type: "prompt.accepted" });
    expect(effectsOf(late)).toEqual(["sweep", "poll"]);
  });

  test("refused, ends the run with the host's words, or as cancelled where that was wanted", () => {
    const refused: RunInput = { type: "prompt.refused", error: "no room" };
    expect(effectsOf(after(sampleRun(), { type: "turn.came" }, refused))).toEqual(["error: no room"]);
    expect(effectsOf(after(sampleRun(), { type: "turn.came" }, cancel, refused))).toEqual(["cancelled: enough"]);
  });
});

describe("a prompt whose call failed", () => {
  test("is searched for, with growing pauses", () => {
    expect(effectsOf(after(sampleRun(), ...doubted))).toEqual(["inspect search", "wake search 250"]);
    const absent = shown("search", { prompted: false });
    const paused = after(sampleRun(), ...doubted, absent);
    expect(effectsOf(paused)).toEqual([]);
    expect(effectsOf(after(paused.run, { type: "woken", name: "search" }))).toEqual([
      "inspect search",
      "wake search 500",
    ]);
    const again = after(sampleRun(), ...doubted, { type: "woken", name: "search" }, absent);
    expect(effectsOf(again)).toEqual(["inspect search", "wake search 500"]);
  });

  test("and whose message the host reports, is worked on: a search that began before and ends too late counts no more", () => {
    const seen = after(sampleRun(), ...doubted, { type: "prompt.seen" });
    expect([seen.run.stage.name, effectsOf(seen)]).toEqual(["working", ["working", "poll"]]);
    const absent: Happening = [DOUBT_MS, shown("search", { prompted: false })];
    const late = after(sampleRun(), ...doubted, { type: "prompt.seen" }, absent);
    expect([late.run.stage.name, effectsOf(late)]).toEqual(["working", []]);
  });

  test("and is found, is worked on as any other", () => {
    const found = after(sampleRun(), ...doubted, shown("search"));
    expect([found.run.stage.name, effectsOf(found)]).toEqual(["working", ["working", "poll"]]);
  });

  test("ends the run where the session or the host's program is gone", () => {
    const gone: RunInput = { type: "inspect.failed", purpose: { name: "search" }, isGone: true };
    expect(effectsOf(after(sampleRun(), ...doubted, gone))).toEqual(["sweep", `error: ${SESSION_DELETED}`]);
    const killed: RunInput = { type: "host.ended", reason: "killed" };
    const dead = after(sampleRun(), ...doubted, killed, shown("search", { prompted: false }));
    expect(effectsOf(dead)).toEqual(["abandon", "error: killed"]);
    // An error that the session reports meanwhile is that of another prompt.
    const failed: RunInput = { type: "session.failed", error: "theirs", aborted: false };
    const absent = shown("search", { prompted: false });
    const other = after(sampleRun(), ...doubted, failed, absent);
    expect([other.run.stage.name, effectsOf(other)]).toEqual(["doubtful", ["inspect search", "wake search 500"]]);
    // Found later, the prompt is waited for, and has not failed.
    expect(after(other.run, absent, shown("search"), shown("hint")).run.ending).toBeNull();
  });

  test("is given up after a minute: the session is stopped, and then the run has failed", () => {
    const late: Happening = [DOUBT_MS, { type: "inspect.failed", purpose: { name: "search" }, isGone: false }];
    const once = after(sampleRun(), ...doubted, late);
    // The process may have been frozen since the first search: what was never read is looked at once more.
    expect(effectsOf(once)).toEqual(["inspect search", "wake search 500"]);
    expect(after(once.run, shown("search")).run.stage.name).toBe("working");
    const given = after(sampleRun(), ...doubted, late, late);
    expect(effectsOf(given)).toEqual(["abandon", "abort abandon"]);
    const [error] = effectsOf(after(given.run, { type: "aborted", purpose: { name: "abandon" } }));
    expect(error).toBe(
      "error: it is not known whether the prompt arrived: no answer. After 60 s, the session was stopped.",
    );
    const failed = { type: "abort.failed", purpose: { name: "abandon" }, isGone: false, error: "no" } as const;
    // Its agent may be at work: it is tried again.
    expect(effectsOf(after(given.run, failed))).toEqual(["sweep", expect.stringContaining("could not be stopped")]);
  });

  test("is swept up when the run ends meanwhile", () => {
    const { run } = after(sampleRun(), ...doubted);
    expect(effectsOf(after(run, { type: "lose" }))).toEqual(["abandon", "sweep"]);
  });
});

describe("evidence", () => {
  const working = after(sampleRun(), ...begun).run;
  const finished = { begun: true, worked: true, answer: { text: "done" } };

  test("of an answer completes the run, whoever hinted at it", () => {
    expect(effectsOf(after(working, { type: "session.idle" }))).toEqual(["inspect hint"]);
    expect(effectsOf(after(working, shown("hint", finished)))).toEqual(["completed: done"]);
    expect(effectsOf(after(working, status(), shown("status", finished)))).toEqual(["completed: done"]);
  });

  test("is needed: a hint without it asks for a poll", () => {
    expect(effectsOf(after(working, { type: "session.idle" }, shown("hint", { begun: true })))).toEqual(["poll soon"]);
  });

  test("is not looked for on a status from before the prompt was accepted", () => {
    expect(effectsOf(after(working, status(500)))).toEqual([]);
    expect(effectsOf(after(working, status()))).toEqual(["inspect status"]);
  });

  test("a status without an end counts after an idle event, or when the next one says the same", () => {
    const open = shown("status", { begun: true });
    const once = after(working, status(), open);
    expect(effectsOf(once)).toEqual(["poll"]);
    expect(effectsOf(after(once.run, status(), open))).toEqual([`error: ${NO_OUTPUT}`]);
    expect(effectsOf(after(once.run, busy, status(), open))).toEqual(["poll"]);
    const older = shown("status", { begun: true }, 1_000);
    expect(effectsOf(after(once.run, older))).toEqual(["poll"]);
    const unbegun = after(working, [BEGIN_MS + 10, shown("status", { begun: false })]);
    expect(effectsOf(unbegun)).toEqual(["poll"]);
    expect(effectsOf(after(unbegun.run, [BEGIN_MS + 20, shown("status", { begun: true }, 99_999)]))).toEqual(["poll"]);
    expect(effectsOf(after(working, { type: "session.idle" }, open))).toEqual([`error: ${NO_OUTPUT}`]);
    expect(effectsOf(after(working, { type: "session.idle" }, { type: "session.working" }, open))).toEqual(["poll"]);
  });

  test("a status proves nothing once the host has shown that the session works, however late its reading arrives", () => {
    const open = shown("status", { begun: true });
    const called: RunInput = { type: "tool.called", sessionId: "s", callId: "c", name: "read", input: {} };
    const found: RunInput = { type: "request.found", requestId: "r", asks: "question", text: "?" };
    for (const sign of [called, asked("r"), answered("r"), found, { type: "session.working" } as const]) {
      expect(effectsOf(after(working, status(), open, sign, status(), open))).toEqual(["poll"]);
      expect(effectsOf(after(working, { type: "session.idle" }, status(), [10_000, sign], open))).toEqual(["poll"]);
      const late = after(working, status(), [10_000, sign], open);
      expect(effectsOf(late)).toEqual(["poll"]);
      const next = shown("status", { begun: true }, 99_999);
      expect(effectsOf(after(late.run, next))).toEqual(["poll"]);
      expect(effectsOf(after(late.run, next, shown("status", { begun: true }, 199_999)))).toEqual([
        `error: ${NO_OUTPUT}`,
      ]);
    }
  });

  test("a status from before a sign of work proves nothing with an error that may be a late one either", () => {
    const called: RunInput = { type: "tool.called", sessionId: "s", callId: "c", name: "read", input: {} };
    const failed: RunInput = { type: "session.failed", error: "aborted", aborted: true };
    // Between two messages: the one with the tool call is finished, the next one has not begun.
    const between = shown("status", { begun: true, worked: true }, 1_005);
    expect(effectsOf(after(working, failed, status(1_005), [10_000, called], between))).toEqual(["poll"]);
  });

  test("a reading from before the idle event says nothing about what the agent wrote until then", () => {
    const late = shown("status", { begun: true, unfinished: true }, 1_004);
    const idle: Happening = [10_000, { type: "session.idle" }];
    expect(effectsOf(after(working, status(), idle, late))).toEqual(["poll"]);
  });

  test("a host that has not begun is given time", () => {
    const idle = after(working, { type: "session.idle" }).run;
    expect(effectsOf(after(idle, shown("status")))).toEqual(["poll"]);
    expect(effectsOf(after(idle, [BEGIN_MS + 10, shown("status")]))).toEqual(["abandon", `error: ${NO_OUTPUT}`]);
    // Another program's work in the session came first.
    const longAgo = after(
      working,
      [BEGIN_MS, { type: "session.working" }],
      [BEGIN_MS - 10, shown("status", {}, 60_000)],
    );
    expect(effectsOf(after(longAgo.run, [70_000, shown("status", {}, 60_001)]))).toEqual(["poll"]);
    const failed: RunInput = { type: "session.failed", error: "no credit", aborted: false };
    expect(effectsOf(after(working, failed, shown("status")))).toEqual(["abandon", "error: no credit"]);
  });

  test("beside a message that is being written is that of another program: it counts when the session is idle for certain", () => {
    const error = { message: "theirs", aborted: false };
    for (const fields of [finished, { begun: true, error }]) {
      const open = { ...fields, unfinished: true };
      expect(effectsOf(after(working, { type: "session.idle" }, shown("hint", open)))).toEqual(["poll soon"]);
      const once = after(working, status(), shown("status", open));
      expect(effectsOf(once)).toEqual(["poll"]);
      expect(effectsOf(after(once.run, busy, status(), shown("status", open)))).toEqual(["poll"]);
      const end = fields === finished ? "completed: done" : "error: theirs";
      expect(effectsOf(after(once.run, status(), shown("status", open)))).toEqual([end]);
      // The idle event may be a late one of an earlier run.
      expect(effectsOf(after(working, { type: "session.idle" }, shown("status", open)))).toEqual(["poll"]);
    }
  });

  test("an error that an earlier run announces late does not end a run that is at work", () => {
    const late: RunInput = { type: "session.failed", error: "aborted", aborted: true };
    const writing = shown("status", { begun: true, unfinished: true });
    expect(effectsOf(after(working, late, status(), writing))).toEqual(["poll"]);
    const failed: RunInput = { type: "session.failed", error: "no credit", aborted: false };
    expect(after(working, failed, { type: "session.working" }).run.announced).toBeNull();
    // The stop of an earlier prompt: this one has not begun.
    expect(effectsOf(after(working, late, shown("status")))).toEqual(["poll"]);
  });

  test("a prompt that ends before it begins is stopped should it begin: it may wait behind a person's turn, which failed", () => {
    const failed: RunInput = { type: "session.failed", error: "no credit", aborted: false };
    const { effects } = after(working, failed, shown("status"));
    expect(effects.map(wordOf)).toEqual(["abandon", "error: no credit"]);
    expect(effects[0]).toEqual({ type: "abandon", isThere: true });
  });

  test("does not change how a run ends that is being stopped", () => {
    expect(effectsOf(after(working, cancel, shown("hint", finished)))).toEqual(["cancelled: enough"]);
    // A single status proves nothing here either: the stop may fail while the agent works on.
    const open = shown("status", { begun: true, unfinished: true });
    const once = after(working, cancel, status(), open);
    expect(effectsOf(once)).toEqual(["poll"]);
    expect(effectsOf(after(once.run, status(), open))).toEqual(["cancelled: enough"]);
  });

  test("that cannot be read is asked for again; a session that is gone ends the run, and what is at work in it is stopped", () => {
    const failed = (isGone: boolean): RunInput => ({
      type: "inspect.failed",
      purpose: { name: "status", askedAt: 9_999 },
      isGone,
    });
    expect(effectsOf(after(working, failed(false)))).toEqual(["poll"]);
    expect(effectsOf(after(working, failed(true)))).toEqual(["sweep", `error: ${SESSION_DELETED}`]);
  });

  test("of a run whose host died counts; without any, the run ends with the reason, as soon as the session can be read", () => {
    const killed: RunInput = { type: "host.ended", reason: "killed" };
    const purpose: InspectPurpose = { name: "host.ended", reason: "killed" };
    expect(effectsOf(after(working, killed))).toEqual(["inspect host.ended"]);
    const evidence = { ...noEvidence(true), ...finished };
    expect(effectsOf(after(working, killed, { type: "inspected", purpose, evidence }))).toEqual(["completed: done"]);
    const unread: RunInput = { type: "inspect.failed", purpose, isGone: false };
    const waiting = after(working, killed, unread);
    expect(effectsOf(waiting)).toEqual(["poll"]);
    expect(effectsOf(after(waiting.run, status(), shown("status")))).toEqual(["error: killed"]);
    // A sign of work from the dead program may come late.
    const late: RunInput = { type: "session.working" };
    expect(effectsOf(after(waiting.run, late, [BEGIN_MS, status()], shown("status", {}, 99_999)))).toEqual([
      "error: killed",
    ]);
    expect(effectsOf(after(waiting.run, status(), shown("status", finished)))).toEqual(["completed: done"]);
    const gone: RunInput = { type: "inspect.failed", purpose, isGone: true };
    expect(effectsOf(after(working, killed, gone))).toEqual(["sweep", `error: ${SESSION_DELETED}`]);
  });
});

describe("a stop", () => {
  const working = after(sampleRun(), ...begun).run;

  test("needs no host before the prompt; after it, the host comes first", () => {
    expect(effectsOf(after(sampleRun(), cancel))).toEqual(["cancelled: enough"]);
    const { effects } = after(working, cancel);
    const [abort] = effects;
    if (abort?.type !== "abort") throw new Error("nothing was stopped");
    const { purpose } = abort;
    expect(effectsOf(after(working, cancel, { type: "aborted", purpose }))).toEqual(["cancelled: enough"]);
    const gone: RunInput = { type: "abort.failed", purpose, isGone: true, error: "gone" };
    expect(effectsOf(after(working, cancel, gone))).toEqual(["cancelled: enough"]);
  });

  test("that failed is tried again by the next poll; an older one does not undo a newer one", () => {
    const failed = (number: number): RunInput => {
      const attempt = { number, verdict: { outcome: "cancelled", reason: "enough" } as const };
      return { type: "abort.failed", purpose: { name: "stop", attempt }, isGone: false, error: "busy" };
    };
    const once = after(working, cancel, failed(1));
    expect([once.run.stopping, effectsOf(once)]).toEqual([null, ["poll"]]);
    expect(effectsOf(after(once.run, polled))).toEqual(["abort stop"]);
    const twice = after(working, cancel, cancel, failed(1));
    expect(twice.run.stopping?.number).toBe(2);
    expect(effectsOf(after(twice.run, polled))).toEqual([]);
  });

  test("a deleted session is stopped all the same", () => {
    expect(effectsOf(after(working, { type: "session.deleted" }))).toEqual([
      "abort deleted",
      `cancelled: ${SESSION_DELETED}`,
    ]);
  });

  test("of the process ends the run as interrupted, or as cancelled where that was wanted", () => {
    const interrupt: RunInput = { type: "interrupt", error: "interrupted" };
    expect(effectsOf(after(working, interrupt))).toEqual(["error: interrupted"]);
    expect(effectsOf(after(working, cancel, interrupt))).toEqual(["cancelled: enough"]);
    expect(effectsOf(after({ ...working, cancelReason: "before" }, interrupt))).toEqual(["cancelled: before"]);
  });
});

describe("what is written", () => {
  const working = after(sampleRun(), ...begun).run;
  const end = { type: "run.failed", at: 1, run: 0, error: "no room", progress: null } as const;
  const refused: Happening[] = [{ type: "turn.came" }, { type: "prompt.refused", error: "no room" }];

  test("an end that could not be written is written again as it was", () => {
    const failed = after(sampleRun(), ...refused, { type: "write.failed", event: end });
    expect(effectsOf(failed)).toEqual(["poll"]);
    for (const again of [polled, cancel]) expect(effectsOf(after(failed.run, again))).toEqual(["error: no room"]);
    expect(effectsOf(after(sampleRun(), ...refused, polled))).toEqual([]);
  });

  test("what the parent is told of is announced, and every end", () => {
    const task: Task = sampleTask();
    const phased = { type: "run.phased", at: 1, run: 0, phase: "stalled", detail: null } as const;
    const write = (notice: NoticeIntent | null): RunInput => {
      return { type: "written", event: phased, outcome: { changed: true, task, notice } };
    };
    expect(effectsOf(after(working, write({ kind: "stalled", topic: "stalled", wake: "now" })))).toEqual(["announce"]);
    expect(effectsOf(after(working, write(null)))).toEqual([]);
    const ended: RunInput = { type: "written", event: end, outcome: { changed: true, task, notice: null } };
    const over = after(working, ended);
    expect([over.run.stage, effectsOf(over)]).toEqual([
      { name: "over", why: "ended", isPromptOut: false },
      ["announce"],
    ]);
  });

  test("progress is written half a second after the first sign of work, and again after the next", () => {
    const sign: RunInput = { type: "text.written" };
    expect(effectsOf(after(working, sign))).toEqual(["wake save 500"]);
    expect(effectsOf(after(working, sign, sign))).toEqual([]);
    const saved = after(working, sign, { type: "woken", name: "save" });
    expect(effectsOf(saved)).toEqual(["run.progressed"]);
    expect(effectsOf(after(saved.run, sign))).toEqual(["wake save 500"]);
  });
});

test("an adopted run keeps what it waits for and the wish to cancel it; its working time begins anew", () => {
  const created = sampleTask();
  const waiting = { kind: "waiting", requestId: "r", asks: "question", text: "?" } as const;
  const at = { awake: 5_000, wall: 90_000 };
  // The clock was set meanwhile, or the machine slept.
  const worked = { ...created.progress, lastUpdate: created.run.startedAt + 3_600_000 };
  const { run, effects } = adopt({ ...created, progress: worked }, LIMITS, at);
  expect([run.stage, run.activity.workingSince]).toEqual([
    { name: "working", acceptedAt: 5_000, workSeenAt: 5_000, idle: null },
    5_000,
  ]);
  expect(effects.map(wordOf)).toEqual(["working", "poll soon"]);
  const asking = adopt({ ...created, phase: "waiting", phaseDetail: waiting }, LIMITS, at);
  expect([[...asking.run.requests.keys()], asking.effects.map(wordOf)]).toEqual([["r"], ["poll soon"]]);
  const unwanted = adopt({ ...created, cancelRequestedAt: 1 }, LIMITS, at).run;
  expect(effectsOf(after(unwanted, polled))).toEqual(["abort stop"]);
});
