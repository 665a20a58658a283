/** One task in one line (its mark, what it is about, how long), and the colours of the current theme for it. */
import type { RGBA } from "@opentui/core";
import type { PanelContext } from "../panel-context.ts";
import { markOf, type PanelTask, type Tone, timeOf, toneOf } from "../panel-task.ts";

const COLOURS = {
  attention: "warning",
  working: "info",
  still: "textMuted",
  good: "success",
  bad: "error",
  quiet: "textMuted",
} as const satisfies Record<Tone, keyof PanelContext["api"]["theme"]["current"]>;

export function colourOf({ api }: PanelContext, task: PanelTask): RGBA {
  return api.theme.current[COLOURS[toneOf(task)]];
}

export function TaskLine(props: { panel: PanelContext; task: PanelTask; isSelected?: boolean }) {
  const { api, now } = props.panel;
  const colour = () => {
    if (props.isSelected) return api.theme.current.selectedListItemText;
    return props.task.isLive ? api.theme.current.text : api.theme.current.textMuted;
  };
  return (
    <box
      flexDirection="row"
      gap={1}
      height={1}
      {...(props.isSelected && { backgroundColor: api.theme.current.primary })}
    >
      <text flexShrink={0} fg={props.isSelected ? colour() : colourOf(props.panel, props.task)}>
        {markOf(props.task)}
      </text>
      <text flexGrow={1} flexShrink={1} wrapMode="none" truncate fg={colour()}>
        {props.task.description}
      </text>
      <text flexShrink={0} fg={props.isSelected ? colour() : api.theme.current.textMuted}>
        {timeOf(props.task, now())}
      </text>
    </box>
  );
}
