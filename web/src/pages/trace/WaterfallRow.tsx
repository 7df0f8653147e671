// One span: indented name on the left, its bar on the right.
import { Activity, Bot, ChevronRight, CircleAlert, ListChecks, Unlink } from "lucide-react";
import { memo } from "react";
import type { Span } from "../../api/types";
import { durationMs } from "../../model/format";
import type { Node } from "../../model/waterfall";
import type { Zoom } from "../../viz/Minimap";
import { slotColour } from "../../viz/palette";

export const ROW_HEIGHT = 26;
const INDENT = 12;
const INDENT_MAX = 24;

interface Props {
  node: Node<Span>;
  index: number;
  position: number;
  top: number;
  colour: number;
  zoom: Zoom;
  collapsed: boolean;
  selected: boolean;
  dimmed: boolean;
  critical: boolean;
  href: string;
  onSelect: (index: number) => void;
  onToggle: (index: number) => void;
}

export const WaterfallRow = memo(function WaterfallRow(props: Props) {
  const { node, index, position, top, collapsed, selected, dimmed } = props;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: keys are handled by the treegrid around
    <div
      id={`span-row-${index}`}
      role="row"
      tabIndex={-1}
      aria-rowindex={position + 1}
      aria-level={node.depth + 1}
      aria-selected={selected}
      aria-expanded={node.childCount ? !collapsed : undefined}
      className={`absolute left-0 grid w-full grid-cols-[var(--names)_minmax(0,1fr)] ${selected ? "bg-accentsoft" : "hover:bg-hover"} ${dimmed ? "opacity-35" : ""}`}
      style={{ top, height: ROW_HEIGHT }}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        props.onSelect(index);
      }}
    >
      <Name {...props} />
      <Bar {...props} />
    </div>
  );
});

function Name({ node, index, colour, collapsed, href, onToggle }: Props) {
  const { span } = node;
  const indent = Math.min(node.depth, INDENT_MAX) * INDENT;
  return (
    <div role="gridcell" className="flex min-w-0 items-center overflow-hidden border-line border-r pr-2">
      <span
        aria-hidden
        className="h-full shrink-0 bg-[repeating-linear-gradient(to_right,transparent_0_7px,var(--line)_7px_8px,transparent_8px_12px)]"
        style={{ width: indent }}
      />
      {node.childCount ? (
        <button
          type="button"
          tabIndex={-1}
          aria-label={collapsed ? `Expand ${node.childCount} children` : "Collapse"}
          className="grid h-full w-5 shrink-0 place-items-center text-ink2 hover:text-ink"
          onClick={(event) => {
            event.stopPropagation();
            event.preventDefault();
            onToggle(index);
          }}
        >
          <ChevronRight size={13} aria-hidden className={collapsed ? "" : "rotate-90"} />
        </button>
      ) : (
        <span className="w-5 shrink-0" />
      )}
      <span
        aria-hidden
        className="mr-1.5 h-3.5 w-[3px] shrink-0 rounded-sm"
        style={{ background: slotColour(colour) }}
      />
      {node.error && <CircleAlert size={13} aria-label="error" className="mr-1 shrink-0 text-error" />}
      {node.missingParent && (
        <Unlink size={12} aria-label="its parent is missing" className="mr-1 shrink-0 text-warn" />
      )}
      <EntityIcon span={span} />
      <a
        href={href}
        tabIndex={-1}
        className={`min-w-0 truncate text-dense ${node.error ? "text-error" : ""}`}
        title={`${span.serviceName}: ${span.name}`}
      >
        <span className="font-mono">{span.name}</span> <span className="text-ink2">{span.serviceName}</span>
      </a>
      {collapsed && node.childCount > 0 && <span className="chip ml-1.5 h-4! shrink-0">+{node.end - index - 1}</span>}
    </div>
  );
}

function EntityIcon({ span }: { span: Span }) {
  const look = "mr-1 shrink-0 text-ink2";
  return (
    <>
      {span.isEndpoint && <Activity size={12} aria-label="endpoint" className={look} />}
      {span.isTask && <ListChecks size={12} aria-label="task" className={look} />}
      {span.isAiTrace && <Bot size={12} aria-label="AI trace" className={look} />}
    </>
  );
}

function Bar({ node, colour, zoom, critical }: Props) {
  const length = zoom.to - zoom.from;
  const left = ((node.startMs - zoom.from) / length) * 100;
  const width = (node.durationMs / length) * 100;
  const right = left + width;
  const hidden = right < 0 || left > 100;
  const from = Math.max(0, left);
  const to = Math.min(100, right);
  const after = to < 82;
  return (
    <div role="gridcell" className="relative min-w-0 overflow-hidden">
      <span className="sr-only">{durationMs(node.durationMs)}</span>
      {!hidden && (
        <>
          <div
            aria-hidden
            className={`absolute top-[7px] h-3 rounded-[2px] ${node.error ? "outline outline-1 outline-error" : ""}`}
            style={{
              left: `${from}%`,
              width: `${Math.max(0, to - from)}%`,
              minWidth: 2,
              background: slotColour(colour),
            }}
          >
            {node.error && <span className="hatch absolute inset-0 rounded-[2px]" />}
            {critical && <span className="absolute inset-x-0 -bottom-[4px] h-[2px] rounded bg-ink" />}
          </div>
          <span
            aria-hidden
            className="absolute top-[5px] whitespace-nowrap px-1.5 text-[11px] text-ink2 leading-4"
            style={after ? { left: `${to}%` } : { right: `${100 - from}%` }}
          >
            {after || from > 12 ? durationMs(node.durationMs) : ""}
          </span>
        </>
      )}
    </div>
  );
}
