/**
 * The bell: turns desktop notifications on and off, and says why if they cannot be turned on.
 */
import { useState } from "react";
import { useChoice } from "../browser/stored-choice.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icons.tsx";
import { areNotificationsOn, notificationChoice, turnNotificationsOff, turnNotificationsOn } from "./notifications.ts";

export function Bell() {
  const isOn = areNotificationsOn(useChoice(notificationChoice));
  const [refusal, setRefusal] = useState<string | null>(null);
  const toggle = async () => {
    if (isOn) turnNotificationsOff();
    else setRefusal(await turnNotificationsOn());
  };
  const title = refusal ?? (isOn ? "Notifications are on" : "Notify me when a task ends or needs me");
  return (
    <Button
      weight="quiet"
      className={`relative w-8 px-0 ${isOn ? "text-accent" : ""}`}
      aria-label="Desktop notifications"
      aria-pressed={isOn}
      title={title}
      onClick={() => void toggle()}
    >
      <Icon name="bell" />
      {isOn && <span className="absolute top-1.5 right-1.5 size-1.5 rounded-full bg-accent" />}
      {refusal && (
        <span
          role="alert"
          className="absolute top-9 right-0 z-30 w-56 rounded-md border border-line bg-surface p-2 text-left text-xs whitespace-normal text-ink shadow-lg"
        >
          {refusal}
        </span>
      )}
    </Button>
  );
}
