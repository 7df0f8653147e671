// One span: indented name on the left, duration and own time, bar on the right.
import { Activity, Bot, ChevronRight, CircleAlert, ListChecks, Unlink } from "lucide-react";
import { type CSSProperties, memo } from "react";
import type { Interval } from "../../model/critical-path";
import { durationMs } from "../../model/format";
import type { Span } from "../../model/types";
import type { Node } from "../../model/waterfall";
import type { Zoom } from "../../viz/Minimap";
import { slotColour } from "../../viz/palette";

export const ROW_HEIGHT = 26;
/** Width of the time columns. Phones omit the own time. */
export const TIMES = "[--times:144px] max-sm:[--times:64px]";
export const COLUMNS =
  "grid-cols-[var(--names)_72px_72px_minmax(0,1fr)] max-sm:grid-cols-[var(--names)_64px_minmax(0,1fr)]";
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
  /** Intervals on the critical path, empty if the span is not on it; absent while the path is not shown. */
  path?: Interval[];
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
      className={`absolute left-0 grid w-full ${COLUMNS} ${selected ? "bg-accentsoft" : "hover:bg-hover"} ${dimmed ? "opacity-35" : ""}`}
      style={{ top, height: ROW_HEIGHT }}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        props.onSelect(index);
      }}
    >
      <Name {...props} />
      <div role="gridcell" className="whitespace-nowrap px-2 text-right text-dense leading-[26px]">
        {durationMs(node.durationMs)}
      </div>
      <div
        role="gridcell"
        className="whitespace-nowrap px-2 text-right text-dense text-ink2 leading-[26px] max-sm:hidden"
      >
        {durationMs(node.selfMs)}
      </div>
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

function Bar({ node, colour, zoom, path }: Props) {
  const bar = place({ from: node.startMs, to: node.startMs + node.durationMs }, zoom);
  return (
    <div role="gridcell" className="relative min-w-0 overflow-hidden border-line border-l">
      {bar && (
        <div
          aria-hidden
          className={`absolute top-[6px] h-3 min-w-[2px] rounded-[2px] ${node.error ? "outline outline-1 outline-error" : ""} ${path?.length === 0 ? "opacity-40" : ""}`}
          style={{ ...bar, background: slotColour(colour) }}
        >
          {node.error && <span className="hatch absolute inset-0 rounded-[2px]" />}
        </div>
      )}
      {path?.map((interval) => {
        const mark = place(interval, zoom);
        return (
          mark && (
            <span
              key={interval.from}
              aria-hidden
              data-path
              className="absolute bottom-[2px] h-[3px] min-w-[2px] bg-ink"
              style={mark}
            />
          )
        );
      })}
    </div>
  );
}

/** Left and width in percent of the zoomed interval; null if outside. */
function place({ from, to }: Interval, zoom: Zoom): CSSProperties | null {
  const share = (ms: number) => ((ms - zoom.from) / (zoom.to - zoom.from)) * 100;
  const [left, right] = [share(from), share(to)];
  if (right < 0 || left > 100) return null;
  const start = Math.max(0, left);
  return { left: `${start}%`, width: `${Math.max(0, Math.min(100, right) - start)}%` };
}
