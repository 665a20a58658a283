/**
 * Markdown from tasks, which is hostile: raw HTML stays text, images become links, and only addresses that a person would
 * expect are linked. Loaded apart from the page, because only this view needs it.
 */
import type { ElementContent, Root, RootContent } from "hast";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { MARK_CLASS, markTitle } from "../parts/foreign-text.tsx";
import { piecesOf, visibleText } from "../wording/hidden-characters.ts";

const SAFE_ADDRESS = /^(https?:|mailto:)/i;
const plugins = [remarkGfm];
const treePlugins = [() => markHidden];

const components: Components = {
  a: ({ href, children }) => <SafeLink address={href}>{children}</SafeLink>,
  img: ({ src, alt }) => (
    <SafeLink
      address={typeof src === "string" ? src : undefined}
    >{`[image: ${visibleText(alt || "without a name")}]`}</SafeLink>
  ),
};

function SafeLink({ address, children }: { address: string | undefined; children?: React.ReactNode }) {
  if (!address || !SAFE_ADDRESS.test(address)) return <span>{children}</span>;
  return (
    <a href={address} target="_blank" rel="noopener noreferrer" title={visibleText(address)}>
      {children}
    </a>
  );
}

/** Puts a mark in place of each hidden character, in all of the tree's text. */
function markHidden(tree: Root): void {
  const marked = <Node extends RootContent | ElementContent>(nodes: Node[]): Node[] =>
    nodes.flatMap((node): Node[] => {
      if (node.type === "element") node.children = marked(node.children);
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
