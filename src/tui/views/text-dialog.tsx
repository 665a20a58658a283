/** A long text in a dialog, to read: the arrows and the page keys scroll it. */
import { type ScrollBoxRenderable, TextAttributes } from "@opentui/core";
import { useTerminalDimensions } from "@opentui/solid";
import { onMount } from "solid-js";
import { markHidden } from "../../model/text/hidden-characters.ts";
import type { PanelContext } from "../panel-context.ts";
import { Safe } from "./safe.tsx";

/** More than anybody reads in a dialog; a session shows the rest. */
const MAX_CHARS = 100_000;
const FOCUS_MS = 1;

export interface ShownText {
  title: string;
  text: string;
  onClose?(): void;
}

export function openText(panel: PanelContext, shown: ShownText): void {
  const close = () => {
    // Not within OpenCode's own closing of the dialog.
    if (shown.onClose) setTimeout(shown.onClose, FOCUS_MS);
  };
  const render = () => (
    <Safe panel={panel}>
      <TextDialog panel={panel} shown={shown} />
    </Safe>
  );
  panel.api.ui.dialog.replace(render, close);
}

function TextDialog(props: { panel: PanelContext; shown: ShownText }) {
  const { api } = props.panel;
  const dimensions = useTerminalDimensions();
  let scroll: ScrollBoxRenderable | undefined;
  onMount(() => {
    api.ui.dialog.setSize("xlarge");
    setTimeout(() => scroll?.focus(), FOCUS_MS);
  });
  const text = markHidden(props.shown.text.slice(0, MAX_CHARS));
  const isCut = props.shown.text.length > MAX_CHARS;
  const lines = () => Math.max(5, Math.floor(dimensions().height / 2));
  return (
    <box paddingLeft={2} paddingRight={2} paddingBottom={1} gap={1}>
      <box flexDirection="row" justifyContent="space-between" gap={2}>
        <text fg={api.theme.current.text} attributes={TextAttributes.BOLD} wrapMode="none" truncate flexShrink={1}>
          {props.shown.title}
        </text>
        <text fg={api.theme.current.textMuted} flexShrink={0}>
          ↑↓ scroll esc close
        </text>
      </box>
      <scrollbox ref={(made: ScrollBoxRenderable) => (scroll = made)} maxHeight={lines()}>
        <text fg={api.theme.current.text} wrapMode="word">
          {isCut ? `${text}\n… (the session has the rest)` : text}
        </text>
      </scrollbox>
    </box>
  );
}
