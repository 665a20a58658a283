/**
 * One line of highlighted source text; plain if it has no colours. Must be inside an element of the class `code`.
 */
import { ForeignText } from "../parts/foreign-text.tsx";
import type { Token } from "./highlighter.ts";

export function ColouredWords({ tokens, text }: { tokens: readonly Token[] | null; text: string }) {
  if (tokens === null) return <ForeignText text={text} />;
  return tokens.map((token, index) =>
    token.className === "" ? (
      <ForeignText key={index} text={token.text} />
    ) : (
      <span key={index} className={token.className}>
        <ForeignText text={token.text} />
      </span>
    ),
  );
}
