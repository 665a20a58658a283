/**
 * The types of the two seams, store and host, with every type that their members use. Two package entries export them:
 * `asyncagents` for those who use or write a driver, `asyncagents/testing` for those who test one.
 */

export type {
  AgentInfo,
  ForkInput,
  Host,
  HostEvent,
  HostRetry,
  HostStatus,
  MessagePage,
  NotifyInput,
  OpenRequest,
  PromptInput,
  Reply,
  StartInput,
  SteerInput,
  UsageCounted,
} from "./hosts/host.ts";
export type { AccessToken, AuditEntry } from "./model/access-token.ts";
export type { After, IfFailed } from "./model/after.ts";
export type { Answerer, Door, GivenAnswer, ReplyWord } from "./model/answer.ts";
export type { Approval } from "./model/approval.ts";
export type {
  Attempt,
  AttemptRepo,
  AttemptState,
  BoardRepo,
  BoardSession,
  FollowUp,
  Project,
  WorkItem,
  WorkItemStatus,
} from "./model/board.ts";
export type { Amounts, Budget, BudgetLimits, Measure, NewBudgets } from "./model/budgets/budget.ts";
export type { Chain, RequestVerdict } from "./model/budgets/chain.ts";
export type { CondenseLimits } from "./model/condense.ts";
export type {
  BudgetEvent,
  NewTask,
  Resumable,
  RunPaused,
  TaskClaimed,
  TaskEdited,
  TaskEvent,
  TaskEventType,
  TaskResumed,
} from "./model/events.ts";
export type { Evidence } from "./model/evidence.ts";
export type { StoppedTask } from "./model/inbox.ts";
export type { Limits, RunLimits, StallPolicy } from "./model/limits.ts";
export type { SpanKind, WorkSpan } from "./model/live-run/work-spans.ts";
export type { Message, MessagePart, ToolPart } from "./model/message.ts";
export type { Follower, TellingWay } from "./model/notifications/follower.ts";
export type { NotificationContent, NotificationKind, NotifiedKind } from "./model/notifications/notification.ts";
export type { Progress, Tokens } from "./model/progress.ts";
export type { AskedTool } from "./model/request-policy.ts";
export type { Role } from "./model/role.ts";
export type { SteeringEvent, SteeringMessage, SteeringState } from "./model/steering.ts";
export type {
  AfterDetail,
  PauseCause,
  PausedDetail,
  Pauses,
  Phase,
  PhaseDetail,
  RetryingDetail,
  Run,
  Status,
  Task,
  TaskClone,
  TaskSort,
  WaitingDetail,
  Wake,
} from "./model/task.ts";
export type { Applied, NoticeIntent, NoticeWake, Refusal, Refused, Transition } from "./model/transition.ts";
export type { BeatingProcess, LeasedProcess, ProcessIdentity } from "./process/liveness.ts";
export type { PushKeys, PushSubscription } from "./process/web-push.ts";
export type { AccessRecords } from "./store/access/records.ts";
export type {
  AttemptRecord,
  AttemptRepoInput,
  AttemptRow,
  AttemptSummary,
  BoardPage,
  BoardRecords,
  BoardRequest,
  FollowUpQueue,
  ListedAttempt,
  PageStart,
  WorkItemFilter,
  WorkItemRow,
} from "./store/board/records.ts";
export type { BudgetChange, BudgetQuery, BudgetRecords } from "./store/budgets/records.ts";
export type { RemoteCall, RemoteCallProgress, RemoteCallRecords, RemoteCallState } from "./store/calls/records.ts";
export type { EndClaim, FollowerRecords, ToldNotices } from "./store/followers/records.ts";
export type {
  ChannelPosition,
  NewNotification,
  NotificationClaim,
  NotificationCounts,
  NotificationOutcome,
  NotificationRecords,
  NotificationState,
  PushRecords,
  StoredNotification,
  StoredSubscription,
} from "./store/notifications/records.ts";
export type {
  ClaimedRun,
  ClaimRequest,
  HostFolder,
  QueuedRun,
  QueueLimits,
  RunClaim,
  RunNeeds,
  RunQueue,
  RunSource,
  WaitingRun,
} from "./store/queue/run-queue.ts";
export type { RunnerLack, RunnerRecord, RunnerRecords, SeenRunner } from "./store/runners/records.ts";
export type {
  AgentTotals,
  ExpectedOwner,
  FeedEntry,
  HistoryCounts,
  HistoryQuery,
  InboxQuery,
  InboxTasks,
  Instance,
  Launch,
  Notice,
  NoticeClaim,
  NoticeSender,
  NoticeState,
  Parent,
  Pruned,
  PruneObstacle,
  PrunePosition,
  PruneRequest,
  PruneStep,
  RunSpan,
  SpanQuery,
  Store,
  StoredSpans,
  TaskHandle,
  TaskPage,
  TaskQuery,
  TaskSelection,
  Transaction,
  UsageQuery,
  UsageRow,
} from "./store/store.ts";
export type { Transcript, TranscriptKind, TranscriptRecords } from "./store/transcripts/records.ts";
