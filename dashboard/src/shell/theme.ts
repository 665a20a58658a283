/**
 * The colour scheme: the browser's own unless the user chose one. Set on the root element by the bundle, because the
 * content security policy allows no script in the page itself.
 */
import { StoredChoice } from "../browser/stored-choice.ts";

export const THEMES = ["auto", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

export const themeChoice = new StoredChoice<Theme>("asyncagents.theme", THEMES, "auto");

export function followTheme(): void {
  const show = () => {
    const theme = themeChoice.value();
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  };
  themeChoice.subscribe(show);
  show();
}
