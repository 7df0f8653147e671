// Markdown as React elements, from the tree of the server's parser. No string of it is used as HTML.
import type { ReactNode } from "react";
import type { MarkdownNode } from "../model/types";

export function Markdown({ nodes }: { nodes: MarkdownNode[] }) {
  return <div className="space-y-2 [overflow-wrap:anywhere]">{elements(nodes)}</div>;
}

function elements(nodes: MarkdownNode[]): ReactNode[] {
  return nodes.map((node, index) => <Element key={index} node={node} />);
}

/** Schemes that run nothing; the server has checked them already. */
const SAFE = /^(https?:\/\/|mailto:|\/(?![/\\]))/i;

function Element({ node }: { node: MarkdownNode }) {
  const inside = elements(node.children);
  switch (node.kind) {
    case "text":
      return node.text;
    case "code":
      return <code className="rounded-control bg-panel px-1 font-mono text-dense">{node.text}</code>;
    case "code_block":
      return (
        <pre
          tabIndex={0}
          className="overflow-x-auto rounded-control border border-line bg-panel p-2 font-mono text-dense"
        >
          {node.text}
        </pre>
      );
    case "heading":
      return node.level <= 1 ? (
        <h3 className="pt-2 font-semibold text-section">{inside}</h3>
      ) : (
        <h4 className="pt-1 font-semibold">{inside}</h4>
      );
    case "list":
      return <ul className="list-disc space-y-1 pl-5">{inside}</ul>;
    case "numbered_list":
      return <ol className="list-decimal space-y-1 pl-5">{inside}</ol>;
    case "item":
      return <li>{inside}</li>;
    case "quote":
      return <blockquote className="border-line border-l-2 pl-3 text-ink2">{inside}</blockquote>;
    case "emphasis":
      return <em>{inside}</em>;
    case "strong":
      return <strong>{inside}</strong>;
    case "struck":
      return <s>{inside}</s>;
    case "link":
      return SAFE.test(node.href) ? (
        <a href={node.href} className="link" rel="noreferrer nofollow" target="_blank">
          {inside}
        </a>
      ) : (
        inside
      );
    case "break":
      return <br />;
    case "rule":
      return <hr className="border-line" />;
    case "table":
      return (
        <table className="text-dense">
          <tbody>{inside}</tbody>
        </table>
      );
    case "row":
      return <tr>{inside}</tr>;
    case "cell":
      return <td className="border border-line px-2 py-1">{inside}</td>;
    default:
      return <p>{inside}</p>;
  }
}
