/** What every ACP agent lacks, because the protocol does. */
import type { Absent } from "../../../src/testing/conformance/host/host-conformance.ts";
import type { Lacks } from "../../../src/testing/conformance/host/stage.ts";

export const ABSENT: Absent = {
  notify: "the protocol has no message without a turn",
  hasMessage: "only useful with notify",
  steer: "the protocol has no message into a turn",
  fork: "the protocol has no stable way to copy a session, and none to cut it",
  condense: "only useful with fork",
};

export const ALL_LACK: Lacks = {
  childSessions: "agents inside a session share its id",
  reportedRetries: "the protocol has no word for them",
};

export const COPILOT_LACKS: Lacks = {
  ...ALL_LACK,
  emptyAnswers: "Copilot reports an empty answer as an error",
  questions: "Copilot offers no tool for them",
};
