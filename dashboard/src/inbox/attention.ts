/**
 * How the page calls for a person who looks elsewhere: a dot on the tab's icon while something waits, and a sound for
 * each new entry if the user asked for it.
 */
import { useEffect, useRef } from "react";
import { StoredChoice } from "../browser/stored-choice.ts";

export const soundChoice = new StoredChoice("asyncagents.sound", ["off", "on"], "off");

const DOT =
  "data:image/svg+xml," +
  encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#4f46e5"/>' +
      '<rect x="7" y="8.5" width="11" height="3.6" rx="1.8" fill="#fff"/><rect x="11" y="14.2" width="14" height="3.6" rx="1.8" fill="#fff" opacity=".8"/>' +
      '<circle cx="24" cy="8" r="8" fill="#f59e0b" stroke="#fff" stroke-width="2"/></svg>',
  );

/** `ids`: the entries that wait now. Those that wait when the page opens make no sound. */
export function useAttention(ids: readonly string[] | undefined): void {
  const known = useRef<ReadonlySet<string> | null>(null);
  const needsYou = (ids?.length ?? 0) > 0;
  useEffect(() => {
    const icon = document.querySelector<HTMLLinkElement>("link[rel=icon]");
    if (!icon) return;
    icon.dataset.plain ??= icon.href;
    icon.href = needsYou ? DOT : icon.dataset.plain;
  }, [needsYou]);
  useEffect(() => {
    if (ids === undefined) return;
    const isNew = known.current !== null && ids.some((id) => !known.current?.has(id));
    known.current = new Set(ids);
    if (isNew && soundChoice.value() === "on") chime();
  }, [ids]);
}

/** Two short tones, made here: the page loads nothing for it. */
export function chime(): void {
  try {
    const context = new AudioContext();
    for (const [at, pitch] of [
      [0, 660],
      [0.14, 880],
    ] as const) {
      const tone = context.createOscillator();
      const volume = context.createGain();
      tone.frequency.value = pitch;
      volume.gain.setValueAtTime(0.08, context.currentTime + at);
      volume.gain.exponentialRampToValueAtTime(0.0001, context.currentTime + at + 0.25);
      tone.connect(volume).connect(context.destination);
      tone.start(context.currentTime + at);
      tone.stop(context.currentTime + at + 0.25);
    }
    setTimeout(() => void context.close(), 1000);
  } catch {
    // No sound device, or the browser does not allow it yet: the page shows it all the same.
  }
}
