/**
 * Text that others wrote (agents, repositories, people), with a visible mark in place of each invisible character.
 * All foreign text that is shown passes through here; titles and labels pass through visibleText.
 */
import { Fragment } from "react";
import { type HiddenCharacter, piecesOf } from "../wording/hidden-characters.ts";

export function ForeignText({ text }: { text: string }) {
  return piecesOf(text).map((piece, index) =>
    typeof piece === "string" ? <Fragment key={index}>{piece}</Fragment> : <Mark key={index} character={piece} />,
  );
}

function Mark({ character }: { character: HiddenCharacter }) {
  return (
    <span className={MARK_CLASS} title={markTitle(character)}>
      {character.code}
    </span>
  );
}

export const MARK_CLASS = "hidden-character";

export function markTitle({ code, name }: HiddenCharacter): string {
  return `A hidden character: ${name} (${code})`;
}
