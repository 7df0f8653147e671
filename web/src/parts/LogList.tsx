// Log records as dense, virtualised rows that expand in place.
import { useVirtualizer } from "@tanstack/react-virtual";
import { Braces, ChevronRight, UnfoldVertical, Waypoints } from "lucide-react";
import { type RefObject, useEffect, useRef, useState } from "react";
import { useProjectId } from "../api/hooks";
import { useWholeLog } from "../api/whole";
import { prettyJson } from "../model/content";
import { cellOf, jsonBody } from "../model/log-columns";
import { clockMs, dateTime, exactTime, parseMs } from "../model/time";
import type { LogRow } from "../model/types";
import { CopyButton } from "../ui/Copy";
import { AttributeTable } from "./AttributeTable";
import { CutNote } from "./CutNote";
import { JsonTree } from "./JsonTree";
import { LongText } from "./LongText";
import { TraceLink } from "./occurrenceColumns";
import { OPEN_ROW } from "./RowDrawer";
import { ServiceName } from "./ServiceName";
import { SeverityMark } from "./SeverityMark";
import { SurroundingLogs } from "./SurroundingLogs";

interface Props {
  rows: LogRow[];
  label: string;
  total: number;
  /** Called when the user scrolls near the end. */
  onEnd?: () => void;
  withTrace?: boolean;
  withDate?: boolean;
  /** Attributes, and fields of bodies, that are shown in columns. */
  columns?: string[];
  /** Adds or removes a column. */
  onColumn?: (key: string) => void;
  /** Adds a field and its value to the query. */
  onFilter?: (key: string, value: string) => void;
  /** Identifies a row; its id when absent. */
  rowKey?: (row: LogRow & { number: number }) => string | number;
  /** The list stays at its end while rows are added. */
  follows?: boolean;
  /** Called when the user scrolls away from the end. */
  onScrollUp?: () => void;
  /** Id of the row whose drawer is open. */
  openRow?: string;
}

export function LogList({
  rows,
  label,
  total,
  onEnd,
  withTrace = true,
  withDate,
  columns = [],
  onColumn,
  onFilter,
  rowKey,
  follows,
  onScrollUp,
  openRow,
}: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const keyOf = (row: LogRow) => (rowKey ? rowKey(row as LogRow & { number: number }) : row.id);
  const [open, setOpen] = useState<ReadonlySet<string | number>>(new Set());
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 28,
    overscan: 20,
    getItemKey: (index) => keyOf(rows[index]),
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (onEnd && last >= rows.length - 30) onEnd();
  }, [last, rows.length, onEnd]);
  useEffect(() => {
    if (follows && rows.length) virtual.scrollToIndex(rows.length - 1, { align: "end" });
  }, [follows, rows, virtual]);
  const toggle = (id: string | number) =>
    setOpen((old) => {
      const next = new Set(old);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  return (
    <div
      ref={scroller as RefObject<HTMLDivElement>}
      className="min-h-0 flex-1 overflow-y-auto"
      role="table"
      aria-label={label}
      aria-rowcount={total}
      tabIndex={0}
      onWheel={(event) => event.deltaY < 0 && onScrollUp?.()}
      onKeyDown={(event) => ["ArrowUp", "PageUp", "Home"].includes(event.key) && onScrollUp?.()}
      onTouchMove={() => onScrollUp?.()}
    >
      {columns.length > 0 && <Heads columns={columns} withDate={withDate} withTrace={withTrace} />}
      <div className="relative" role="rowgroup" style={{ height: virtual.getTotalSize() }}>
        {items.map((item) => {
          const row = rows[item.index];
          return (
            <div
              key={item.key}
              ref={virtual.measureElement}
              data-index={item.index}
              data-key={row.id}
              role="row"
              aria-rowindex={item.index + 1}
              className={`absolute inset-x-0 top-0 border-line/60 border-b ${row.id === openRow ? OPEN_ROW : ""}`}
              style={{ transform: `translateY(${item.start}px)` }}
            >
              <Line
                row={row}
                open={open.has(keyOf(row))}
                onToggle={() => toggle(keyOf(row))}
                withTrace={withTrace}
                withDate={withDate}
                columns={columns}
                onColumn={onColumn}
                onFilter={onFilter}
              />
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** The names of the columns, above the rows; on phones each value has its name. */
function Heads({ columns, withDate, withTrace }: { columns: string[]; withDate?: boolean; withTrace: boolean }) {
  return (
    <div role="rowgroup" className="sticky top-0 z-10 border-line border-b bg-bg text-dense text-ink2 max-sm:hidden">
      <div role="row" className="flex min-h-7 items-center gap-x-2 px-3">
        <span role="columnheader" className={`${withDate ? "w-41" : "w-29"} shrink-0 pl-7`}>
          Time
        </span>
        <span role="columnheader" className="w-18 shrink-0">
          Severity
        </span>
        <span role="columnheader" className="w-28 shrink-0">
          Service
        </span>
        {columns.map((key) => (
          <span key={key} role="columnheader" className={`${COLUMN} font-mono`} title={key}>
            {key}
          </span>
        ))}
        <span role="columnheader" className="min-w-0 flex-1">
          Message
        </span>
        {withTrace && (
          <span role="columnheader" className="w-7 shrink-0">
            <span className="sr-only">Trace</span>
          </span>
        )}
      </div>
    </div>
  );
}

/** Width of an added column. */
const COLUMN = "w-36 shrink-0 truncate";

function Line({
  row,
  open,
  onToggle,
  withTrace,
  withDate,
  columns,
  onColumn,
  onFilter,
}: {
  row: LogRow;
  open: boolean;
  onToggle: () => void;
  withTrace: boolean;
  withDate?: boolean;
  columns: string[];
  onColumn?: (key: string) => void;
  onFilter?: (key: string, value: string) => void;
}) {
  const ms = parseMs(row.timestamp);
  const projectId = useProjectId();
  return (
    <>
      <div
        className={`flex min-h-7 items-center gap-x-2 px-3 hover:bg-hover max-sm:flex-wrap max-sm:py-1 ${open ? "bg-hover" : ""}`}
      >
        <span role="cell" className="flex shrink-0 items-center gap-1">
          <button
            type="button"
            data-row-link
            aria-expanded={open}
            aria-label={`${open ? "Hide" : "Show"} details of the log at ${clockMs(ms)}`}
            className="grid size-6 place-items-center rounded text-ink2 hover:text-ink"
            onClick={onToggle}
          >
            <ChevronRight size={13} aria-hidden className={open ? "rotate-90" : ""} />
          </button>
          <time
            dateTime={row.timestamp}
            title={exactTime(row.timestamp)}
            className="whitespace-nowrap font-mono text-dense text-ink2"
          >
            {withDate ? `${dateTime(ms).slice(0, -9)} ` : ""}
            {clockMs(ms)}
          </time>
        </span>
        <span role="cell" className="flex w-18 shrink-0 items-center">
          <SeverityMark text={row.severityText} number={row.severityNumber} />
        </span>
        <span role="cell" className="flex w-28 shrink-0 items-center text-dense text-ink2">
          <ServiceName name={row.serviceName} />
        </span>
        {row.project.id !== projectId && (
          <span role="cell" className="tag max-w-28 shrink-0 truncate" title={`Project ${row.project.name}`}>
            {row.project.name}
          </span>
        )}
        {columns.map((key) => {
          const value = cellOf(row, key);
          return (
            <span key={key} role="cell" className={`${COLUMN} font-mono text-dense max-sm:w-auto`} title={value}>
              {value ? (
                <>
                  <span className="text-ink2 sm:hidden">{key} </span>
                  {value.slice(0, 200)}
                </>
              ) : (
                <span className="text-ink2 max-sm:hidden">–</span>
              )}
            </span>
          );
        })}
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: the button at the start of the row does the same by keyboard */}
        <span
          role="cell"
          className="min-w-0 flex-1 cursor-pointer truncate font-mono text-dense max-sm:basis-full max-sm:whitespace-normal max-sm:[overflow-wrap:anywhere]"
          onClick={onToggle}
        >
          {row.body.slice(0, 600) || row.eventName || "(empty)"}
        </span>
        {withTrace && (
          <span role="cell" className="w-7 shrink-0">
            {row.traceId && (
              <TraceLink
                traceId={row.traceId}
                spanId={row.spanId}
                at={row.timestamp}
                className="btn btn-ghost btn-icon h-6! w-6!"
              >
                <Waypoints size={13} aria-label="Open the trace" />
              </TraceLink>
            )}
          </span>
        )}
      </div>
      {open && <LogDetails row={row} onColumn={onColumn} onFilter={onFilter} />}
    </>
  );
}

interface DetailsProps extends Pick<Props, "onColumn" | "onFilter"> {
  row: LogRow;
  /** In one column, outside of the table. */
  narrow?: boolean;
}

export function LogDetails({ row: listed, onColumn, onFilter, narrow }: DetailsProps) {
  const whole = useWholeLog(listed);
  const { row } = whole;
  const json = jsonBody(row.body);
  const projectId = useProjectId();
  const [isRaw, setRaw] = useState(false);
  const [isAround, setAround] = useState(false);
  return (
    <div
      className={narrow ? "grid gap-4" : "grid gap-4 border-accent border-l-2 bg-panel px-4 py-3 lg:grid-cols-2"}
      role={narrow ? undefined : "cell"}
    >
      <section className={`min-w-0 ${narrow ? "" : "lg:col-span-2"}`}>
        <div className="flex flex-wrap items-center justify-between gap-x-3">
          <h3 className="font-semibold">Message</h3>
          <span className="flex flex-wrap items-center gap-1">
            {json && (
              <button type="button" className="btn" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
                <Braces size={14} aria-hidden /> JSON
              </button>
            )}
            {row.project.id === projectId && (
              <button type="button" className="btn" aria-expanded={isAround} onClick={() => setAround(!isAround)}>
                <UnfoldVertical size={14} aria-hidden /> {isAround ? "Hide" : "Show"} surrounding lines
              </button>
            )}
            <CopyButton text={row.body} label="Copy the message" />
          </span>
        </div>
        <CutNote of={whole} />
        {json && !isRaw ? (
          <div className="max-h-80 overflow-auto" tabIndex={0} role="region" aria-label="Message as a tree">
            <JsonTree value={json} path="body" onColumn={onColumn} onFilter={onFilter} />
          </div>
        ) : (
          <pre className="max-h-80 overflow-auto font-mono text-dense" tabIndex={0}>
            <LongText text={prettyJson(row.body)} />
          </pre>
        )}
        <p className="mt-1 text-dense text-ink2">
          {exactTime(row.timestamp)}
          {row.scopeName && ` · ${row.scopeName}`}
          {row.eventName && ` · event ${row.eventName}`}
          {row.traceId && (
            <>
              {" · "}
              <TraceLink traceId={row.traceId} spanId={row.spanId} at={row.timestamp}>
                trace {row.traceId.slice(0, 16)}
              </TraceLink>
            </>
          )}
        </p>
      </section>
      {isAround && <SurroundingLogs row={row} />}
      <section className="min-w-0">
        <h3 className="mb-1 font-semibold">Attributes</h3>
        <AttributeTable attributes={{ ...row.scopeAttributes, ...row.logAttributes }} label="Log attributes" />
      </section>
      <section className="min-w-0">
        <h3 className="mb-1 font-semibold">Resource</h3>
        <AttributeTable attributes={row.resourceAttributes} label="Resource attributes" />
      </section>
    </div>
  );
}
