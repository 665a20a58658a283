/**
 * The button that cycles through the three themes and says which one is active.
 */

import { useChoice } from "../browser/stored-choice.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icons.tsx";
import { THEMES, themeChoice } from "./theme.ts";

export function ThemeToggle() {
  const theme = useChoice(themeChoice);
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "auto";
  return (
    <Button
      weight="quiet"
      className="w-8 px-0"
      aria-label={`Theme: ${theme}. Change to ${next}`}
      title={`Theme: ${theme}`}
      onClick={() => themeChoice.choose(next)}
    >
      <Icon name={theme} />
    </Button>
  );
}
