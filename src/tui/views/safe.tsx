/**
 * Keeps a fault in the panel from taking OpenCode's screen down: what fails while it is drawn is replaced by a short
 * text and logged, and what fails in a handler is shown as a toast. A boundary works only inside a box, so there is one
 * around it.
 */
import { ErrorBoundary, type JSX } from "solid-js";
import { messageOf } from "../../model/errors.ts";
import { asLine } from "../../model/text/foreign-text.ts";
import type { PanelContext } from "../panel-context.ts";

const MESSAGE = 300;

/** Its children are drawn inside the boundary: JSX passes them as a getter. */
export function Safe(props: { panel: PanelContext; grows?: boolean; children: JSX.Element }) {
  const failed = (thrown: unknown) => {
    props.panel.log.error("the panel could not be drawn", { error: messageOf(thrown) });
    return <text fg={props.panel.api.theme.current.textMuted}>Tasks cannot be shown</text>;
  };
  return (
    <box flexGrow={props.grows ? 1 : 0}>
      <ErrorBoundary fallback={failed}>{props.children}</ErrorBoundary>
    </box>
  );
}

/** For a key or a command: what it throws is shown, too. */
export function handler(panel: PanelContext, work: () => void): () => void {
  return () => {
    void attempt(panel, async () => {
      work();
      return null;
    });
  };
}

/** Runs what a person asked for, and tells what came of it. Never rejects. */
export async function attempt(panel: PanelContext, work: () => Promise<string | null>): Promise<void> {
  const { api, log } = panel;
  try {
    const said = await work();
    if (said !== null) api.ui.toast({ title: "Background tasks", message: said, variant: "success" });
  } catch (thrown) {
    log.error("what a person asked for failed", { error: messageOf(thrown) });
    api.ui.toast({ title: "Background tasks", message: asLine(messageOf(thrown), MESSAGE), variant: "error" });
  }
}
