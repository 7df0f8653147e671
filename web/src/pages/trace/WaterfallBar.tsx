// Filters and view switches above the waterfall.
import { ChevronsDownUp, ChevronsUpDown, CircleAlert, Route, ZoomOut } from "lucide-react";
import { type CriticalPath, ownMs } from "../../model/critical-path";
import { brief, count, durationMs, durationRound, percent } from "../../model/format";
import type { TraceSearch } from "../../model/telemetry-search";
import type { Span } from "../../model/types";
import type { Trace } from "../../model/waterfall";
import { usePatchSearch } from "../../parts/listSearch";
import { SearchBox } from "../../ui/SearchBox";
import { Segmented } from "../../ui/Segmented";
import { Select } from "../../ui/Select";

interface Props {
  trace: Trace<Span>;
  search: TraceSearch;
  matched: number;
  dim: boolean;
  onDim: (dim: boolean) => void;
  path: CriticalPath;
  critical: boolean;
  onCritical: (on: boolean) => void;
  onWorst: () => void;
  onCollapse: () => void;
  allCollapsed: boolean;
  onNextError: () => void;
  zoomed: boolean;
  onReset: () => void;
}

export function WaterfallBar({ trace, search, matched, ...props }: Props) {
  const patch = usePatchSearch();
  const filtering = !!(search.q || search.min || search.errors);
  const Collapse = props.allCollapsed ? ChevronsUpDown : ChevronsDownUp;
  return (
    <div className="flex flex-wrap items-center gap-2 px-4 py-2">
      <SearchBox
        label="Filter spans (f)"
        placeholder="Filter spans"
        value={search.q ?? ""}
        onSearch={(q) => patch({ q: q || undefined }, true)}
      />
      <Select
        label="Least duration"
        value={String(search.min ?? "")}
        options={minChoices(trace.totalMs, search.min)}
        onChange={(min) => patch({ min: min || undefined }, true)}
      />
      <button
        type="button"
        className="btn aria-pressed:border-error aria-pressed:text-error"
        aria-pressed={!!search.errors}
        disabled={!trace.errors.length}
        onClick={() => patch({ errors: search.errors ? undefined : true }, true)}
      >
        <CircleAlert size={14} aria-hidden /> Errors {count(trace.errors.length)}
      </button>
      {filtering && (
        <>
          <Segmented
            label="Spans that do not match"
            value={props.dim ? "dim" : "hide"}
            options={[
              { value: "hide", label: "Hide rest" },
              { value: "dim", label: "Dim rest" },
            ]}
            onChange={(value) => props.onDim(value === "dim")}
          />
          <span role="status" className="text-ink2">
            {count(matched)} of {count(trace.nodes.length)} match
          </span>
        </>
      )}
      <span className="flex-1" />
      {props.zoomed && (
        <button type="button" className="btn" onClick={props.onReset}>
          <ZoomOut size={14} aria-hidden /> Whole trace
        </button>
      )}
      {trace.errors.length > 0 && (
        <button type="button" className="btn" onClick={props.onNextError} title="Next error (!)">
          Next error
        </button>
      )}
      <button
        type="button"
        className="btn aria-pressed:border-accent aria-pressed:text-accent"
        aria-pressed={props.critical}
        title="Critical path (\)"
        onClick={() => props.onCritical(!props.critical)}
      >
        <Route size={14} aria-hidden /> Critical path
      </button>
      <button
        type="button"
        className="btn btn-icon"
        aria-label={props.allCollapsed ? "Expand all" : "Collapse all"}
        onClick={props.onCollapse}
      >
        <Collapse size={14} aria-hidden />
      </button>
      {props.critical && <PathWords trace={trace} path={props.path} onWorst={props.onWorst} />}
    </div>
  );
}

/** Length of the critical path, and its span with the most own time. */
function PathWords({ trace, path, onWorst }: Pick<Props, "trace" | "path" | "onWorst">) {
  const worst = trace.nodes[path.worst];
  if (!worst) return null;
  const ms = ownMs(path.own, path.worst);
  return (
    <p role="status" className="basis-full text-ink2">
      Critical path <span className="font-medium text-ink">{durationMs(path.totalMs)}</span>, most of it in{" "}
      <button
        type="button"
        className="link inline text-left font-mono text-dense [overflow-wrap:anywhere]"
        onClick={onWorst}
      >
        {brief(worst.span.name, 80)}
      </button>
      : {durationMs(ms)} of own time ({percent(path.totalMs ? ms / path.totalMs : 0)})
    </p>
  );
}

function minChoices(totalMs: number, chosen: number | undefined) {
  const parts = [0.001, 0.01, 0.05, 0.1].map((part) => Number((totalMs * part).toPrecision(1)));
  const values = [...new Set([...parts, ...(chosen ? [chosen] : [])])].filter((ms) => ms > 0).sort((a, b) => a - b);
  return [
    { value: "", label: "Any duration" },
    ...values.map((ms) => ({ value: String(ms), label: `at least ${durationRound(ms)}` })),
  ];
}
