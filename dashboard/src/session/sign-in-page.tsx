/**
 * The page for callers from other machines who have not signed in: one field for the token. It is sent in a header,
 * kept for this tab only, and never becomes part of an address.
 */
import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { Form } from "../forms/form.tsx";
import { FIELD, Field } from "../forms/form-fields.tsx";
import { Button } from "../parts/button.tsx";
import { failureText } from "../server/failure.ts";
import { Logo } from "../shell/logo.tsx";
import { ThemeToggle } from "../shell/theme-toggle.tsx";
import { signIn } from "./session.ts";

export function SignInPage({ reason }: { reason: string | null }) {
  const [token, setToken] = useState("");
  const field = useRef<HTMLInputElement>(null);
  // There is nothing else to do on this page.
  useEffect(() => field.current?.focus(), []);
  const attempt = useMutation({ mutationFn: () => signIn(token.trim()) });
  const problem = attempt.isError ? failureText(attempt.error) : reason;
  return (
    <div className="flex h-full flex-col overflow-y-auto">
      <div className="flex justify-end p-3">
        <ThemeToggle />
      </div>
      <main className="mx-auto flex w-full max-w-sm flex-1 flex-col px-4 pt-[8vh] pb-10">
        <div className="mb-6 flex items-center gap-3">
          <Logo className="size-9" />
          <div>
            <h1 className="text-lg leading-tight font-semibold tracking-tight">Sign in to asyncagents</h1>
            <p className="foreign text-muted">{window.location.host}</p>
          </div>
        </div>
        <div className="rounded-lg border border-line bg-surface p-4 sm:p-5">
          <Form label="Sign in" onSubmit={() => !attempt.isPending && token.trim() !== "" && attempt.mutate()}>
            <Field label="Token" hint="Kept for this tab only, until you sign out or close it.">
              {(id, hintId) => (
                <input
                  id={id}
                  type="password"
                  required
                  ref={field}
                  autoComplete="current-password"
                  spellCheck={false}
                  placeholder="aat_…"
                  value={token}
                  aria-describedby={hintId}
                  onChange={(event) => setToken(event.target.value)}
                  className={`${FIELD} font-mono`}
                />
              )}
            </Field>
            {problem !== null && (
              <p role="alert" className="text-error">
                {problem}
              </p>
            )}
            <Button
              type="submit"
              weight="primary"
              className="w-full"
              disabled={attempt.isPending || token.trim() === ""}
            >
              {attempt.isPending ? "Signing in…" : "Sign in"}
            </Button>
          </Form>
        </div>
        <p className="mt-4 text-xs text-muted">
          No token? Whoever runs this server makes one with{" "}
          <code className="rounded bg-raised px-1 py-0.5 font-mono">asyncagents token create</code>.
        </p>
      </main>
    </div>
  );
}
