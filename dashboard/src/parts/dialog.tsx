/**
 * A modal dialog based on the browser's own: it keeps the focus inside, closes on Escape, and restores the focus.
 */
import { type MouseEvent, type ReactNode, useEffect, useId, useRef } from "react";
import { Button } from "./button.tsx";
import { Icon } from "./icons.tsx";

export function Dialog({ title, onClose, children }: { title: string; onClose: () => void; children: ReactNode }) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    if (!element.current?.open) element.current?.showModal();
  }, []);
  const closeOutside = (event: MouseEvent) => {
    if (event.target === element.current) element.current?.close();
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the browser closes a modal dialog with Escape by itself
    <dialog
      ref={element}
      aria-labelledby={titleId}
      onClose={onClose}
      onClick={closeOutside}
      className="m-auto w-[min(36rem,calc(100vw-1.5rem))] rounded-xl border border-line bg-surface text-ink shadow-2xl"
    >
      <div className="flex flex-col gap-4 p-4 sm:p-5">
        <div className="flex items-center justify-between">
          <h2 id={titleId} className="text-[15px] font-semibold">
            {title}
          </h2>
          <Button weight="quiet" aria-label="Close" className="w-8 px-0" onClick={() => element.current?.close()}>
            <Icon name="close" />
          </Button>
        </div>
        {children}
      </div>
    </dialog>
  );
}
