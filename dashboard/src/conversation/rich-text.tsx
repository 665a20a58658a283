/**
 * The text of a message: as Markdown once that has loaded, as plain text until then and if it is too long to parse
 * without blocking the page.
 */
import { lazy, memo, Suspense } from "react";
import { ErrorBoundary } from "../parts/error-boundary.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { LongText } from "./long-text.tsx";

const Markdown = lazy(() => import("./markdown.tsx"));
const LONGEST = 60_000;

export const RichText = memo(function RichText({ text }: { text: string }) {
  if (text.length > LONGEST) return <LongText text={text} label="text" />;
  return (
    <ErrorBoundary title="This text could not be shown" resetKey={text}>
      <Suspense
        fallback={
          <p className="foreign whitespace-pre-wrap">
            <ForeignText text={text} />
          </p>
        }
      >
        <Markdown text={text} />
      </Suspense>
    </ErrorBoundary>
  );
});
