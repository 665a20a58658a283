/**
 * Markdown from tasks, which is hostile: raw HTML stays text, images become links, and only addresses that a person would
 * expect are linked. Loaded apart from the page, because only this view needs it.
 */
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";

const SAFE_ADDRESS = /^(https?:|mailto:)/i;
const plugins = [remarkGfm];

const components: Components = {
  a: ({ href, children }) => <SafeLink address={href}>{children}</SafeLink>,
  img: ({ src, alt }) => (
    <SafeLink address={typeof src === "string" ? src : undefined}>{`[image: ${alt || "without a name"}]`}</SafeLink>
  ),
};

function SafeLink({ address, children }: { address: string | undefined; children?: React.ReactNode }) {
  if (!address || !SAFE_ADDRESS.test(address)) return <span>{children}</span>;
  return (
    <a href={address} target="_blank" rel="noopener noreferrer" title={address}>
      {children}
    </a>
  );
}

export default function Markdown({ text }: { text: string }) {
  return (
    <div className="markdown foreign">
      <ReactMarkdown
        remarkPlugins={plugins}
        components={components}
        urlTransform={(address) => (SAFE_ADDRESS.test(address) ? address : "")}
      >
        {text}
      </ReactMarkdown>
    </div>
  );
}
