/**
 * Who is signed in, with the role, and the button that signs out. Nothing for the user of this machine, who needs no
 * token.
 */
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icons.tsx";
import { signOut, useCaller } from "./session.ts";

export function SignedIn() {
  const caller = useCaller();
  if (caller?.door !== "token") return null;
  return (
    <span className="flex min-w-0 items-center gap-1.5">
      <span
        title={`Signed in as ${caller.name}, with the role ${caller.role}`}
        className="hidden min-w-0 items-baseline gap-1.5 px-1 md:flex"
      >
        <span className="max-w-32 truncate font-medium">{caller.name}</span>
        <span className="rounded bg-raised px-1.5 text-xs text-muted">{caller.role}</span>
      </span>
      <Button
        weight="quiet"
        className="w-8 px-0"
        aria-label={`Sign out ${caller.name} (${caller.role})`}
        title={`Sign out ${caller.name} (${caller.role})`}
        onClick={signOut}
      >
        <Icon name="signOut" />
      </Button>
    </span>
  );
}
