/** The button below a text that is cut: it says how long the whole text is, and shows it. */
import { Button } from "../parts/button.tsx";
import { countText } from "../wording/amounts.ts";

export function ShowAll({ text, onShow }: { text: string; onShow: () => void }) {
  return (
    <Button weight="quiet" className="mt-1" onClick={onShow}>
      Show all {countText(text.length)} characters
    </Button>
  );
}
