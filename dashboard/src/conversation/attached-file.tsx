/**
 * A file in a message: shown as an image if its data is included and its format contains only pixels, otherwise by
 * name.
 */
import type { LogPart } from "../../../src/protocol/conversations.ts";
import { ForeignText } from "../parts/foreign-text.tsx";
import { Icon } from "../parts/icons.tsx";
import { visibleText } from "../wording/hidden-characters.ts";

/** Not SVG, which is a document. */
const PICTURE = /^data:image\/(png|jpeg|gif|webp|avif);base64,[a-z0-9+/=\s]+$/i;

export function AttachedFile({ part }: { part: Extract<LogPart, { type: "file" }> }) {
  const name = part.name ?? (part.url.startsWith("data:") ? part.mime : part.url.slice(0, 120));
  const line = (
    <span className="flex min-w-0 items-center gap-2 text-muted">
      <Icon name="file" />
      <span className="foreign min-w-0">
        <ForeignText text={name} />
      </span>
      <span className="foreign text-xs text-faint">
        <ForeignText text={part.mime} />
      </span>
    </span>
  );
  if (!PICTURE.test(part.url)) return <p>{line}</p>;
  return (
    <figure className="flex min-w-0 flex-col gap-1.5">
      <img
        src={part.url}
        alt={visibleText(part.name ?? "A picture")}
        className="max-h-[26rem] max-w-full self-start rounded-lg border border-line bg-raised object-contain"
      />
      <figcaption>{line}</figcaption>
    </figure>
  );
}
