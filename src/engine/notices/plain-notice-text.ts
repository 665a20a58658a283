/**
 * The default wording of notices: for a parent whose own program is gone, and for engines in other programs. It names
 * no tools, because those of the parent are not known here.
 */
import { asLine } from "../../model/text/foreign-text.ts";
import type { NoticeText, NoticeView } from "../context.ts";

/** The longest description or error that a notice shows. */
const LINE = 500;

export function plainNoticeText(views: readonly NoticeView[]): NoticeText {
  const lines = views.map(({ notice, task, run }) => {
    if (notice.kind === "budget") return `${asLine(notice.topic, LINE)}.`;
    const outcome = run.outcome ?? task.phase ?? task.status;
    return `Background task ${task.id} (${asLine(task.description, LINE)}): ${outcome}. ${asLine(run.error ?? "", LINE)}`.trim();
  });
  return { visible: lines.join("\n"), hidden: "Read the results with the tool that shows the output of a task." };
}
