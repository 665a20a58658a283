/**
 * Markdown from tasks, which is untrusted: raw HTML stays text, images become links, and only addresses that a reader
 * would expect are linked. Loaded separately from the page, because only this view needs it.
 */
import type { Element, ElementContent, Root, RootContent } from "hast";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { CodeBlock } from "../code/code-block.tsx";
import { MARK_CLASS, markTitle } from "../parts/foreign-text.tsx";
import { piecesOf, visibleText } from "../wording/hidden-characters.ts";

const SAFE_ADDRESS = /^(https?:|mailto:)/i;
const plugins = [remarkGfm];
const treePlugins = [() => markHidden];

const components: Components = {
  pre: ({ node }) => <CodeOf node={node} />,
  a: ({ href, children }) => <SafeLink address={href}>{children}</SafeLink>,
  img: ({ src, alt }) => (
    <SafeLink
      address={typeof src === "string" ? src : undefined}
    >{`[image: ${visibleText(alt || "without a name")}]`}</SafeLink>
  ),
};

/** Markdown represents a code block as nested elements, and the inner one's class names the language. */
function CodeOf({ node }: { node: Element | undefined }) {
  const code = node?.children.find((child) => child.type === "element");
  const names = code?.properties.className;
  const language = Array.isArray(names) ? String(names[0] ?? "").replace(/^language-/, "") : "";
  const text = (code?.children ?? []).map((child) => (child.type === "text" ? child.value : "")).join("");
  return <CodeBlock label="Code" text={text.replace(/\n$/, "")} language={language} />;
}

function SafeLink({ address, children }: { address: string | undefined; children?: React.ReactNode }) {
  if (!address || !SAFE_ADDRESS.test(address)) return <span>{children}</span>;
  return (
    <a href={address} target="_blank" rel="noopener noreferrer" title={visibleText(address)}>
      {children}
    </a>
  );
}

/** Replaces each hidden character by a mark in all text of the tree except code blocks, which mark their own. */
function markHidden(tree: Root): void {
  const marked = <Node extends RootContent | ElementContent>(nodes: Node[]): Node[] =>
    nodes.flatMap((node): Node[] => {
      if (node.type === "element" && node.tagName !== "pre") node.children = marked(node.children);
      if (node.type !== "text") return [node];
      return piecesOf(node.value).map((piece) => markedNode(piece) as Node);
    });
  tree.children = marked(tree.children);
}

function markedNode(piece: ReturnType<typeof piecesOf>[number]): ElementContent {
  if (typeof piece === "string") return { type: "text", value: piece };
  const properties = { className: [MARK_CLASS], title: markTitle(piece) };
  return { type: "element", tagName: "span", properties, children: [{ type: "text", value: piece.code }] };
}

export default function Markdown({ text }: { text: string }) {
  return (
    <div className="markdown foreign">
      <ReactMarkdown
        remarkPlugins={plugins}
        rehypePlugins={treePlugins}
        components={components}
        urlTransform={(address) => (SAFE_ADDRESS.test(address) ? address : "")}
      >
        {text}
      </ReactMarkdown>
    </div>
  );
}
