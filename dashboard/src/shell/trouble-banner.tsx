/**
 * Reports what keeps the server's data folder from working: a full disk, a damaged store. Stays until it is fixed.
 */
import { ForeignText } from "../parts/foreign-text.tsx";
import { Icon } from "../parts/icons.tsx";
import { useTroubles } from "../server/queries.ts";

export function TroubleBanner() {
  const { data: troubles = [] } = useTroubles();
  return (
    <div role="alert">
      {troubles.map(({ kind, message }) => (
        <p
          key={kind}
          data-trouble={kind}
          className="foreign flex items-start gap-2 border-b border-error/40 bg-error/10 px-4 py-2 text-error"
        >
          <Icon name="stalled" className="mt-0.5" />
          <ForeignText text={message} />
        </p>
      ))}
    </div>
  );
}
