/** What a parent reads, in words for the checks: one line for each notice, from whatever process it comes. */
import type { NoticeText, NoticeView } from "../../src/engine/context.ts";

export function wordNotices(views: readonly NoticeView[]): NoticeText {
  const lines = views.map(({ notice, task, run }) =>
    [notice.kind, task.id, run.number, notice.topic, run.outcome ?? "live"].join(" "),
  );
  return { visible: `${views.length} notices`, hidden: lines.join("\n") };
}
