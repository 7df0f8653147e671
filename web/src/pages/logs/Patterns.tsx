// The patterns of the records that the filters hold, the most frequent first. A click on one adds its query.
import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { usePost } from "../../api/hooks";
import { useRange } from "../../api/range";
import type { LogBody } from "../../api/routes";
import { count, percent, plural } from "../../model/format";
import type { LogPattern } from "../../model/types";
import { Ago } from "../../parts/Ago";
import { LongText } from "../../parts/LongText";
import { NoData } from "../../parts/NoData";
import { SeverityMark } from "../../parts/SeverityMark";
import { QueryView } from "../../parts/states";
import { Sparkline } from "../../viz/Sparkline";

interface Props {
  body: LogBody;
  filtered: boolean;
  onClear: () => void;
  /** Adds a term to the query. */
  onAdd: (term: string) => void;
}

export function Patterns({ body, filtered, onClear, onAdd }: Props) {
  const query = usePost("/api/logs/patterns", body);
  return (
    <QueryView query={query}>
      {(data) => {
        if (!data.data.length)
          return (
            <NoData
              what="logs"
              about="Patterns of log records are listed here."
              filtered={filtered}
              onClear={onClear}
            />
          );
        const mark = data.estimated ? "≈ " : "";
        return (
          <div className="min-h-0 flex-1 overflow-auto">
            <p className="px-4 py-2 text-dense text-ink2" role="status">
              {plural(data.data.length + data.more, "pattern")} of {mark}
              {count(data.records)} records
              {data.estimated && `, estimated from ${count(data.read)} of them`}
              {data.others > 0 && `; ${mark}${count(data.others)} records are of patterns that are not listed`}
            </p>
            <ul aria-label="Patterns" className="border-line border-t">
              {data.data.map((pattern) => (
                <Pattern key={`${pattern.pattern} ${pattern.query}`} pattern={pattern} mark={mark} onAdd={onAdd} />
              ))}
            </ul>
          </div>
        );
      }}
    </QueryView>
  );
}

function Pattern({ pattern, mark, onAdd }: { pattern: LogPattern; mark: string; onAdd: (term: string) => void }) {
  const { span } = useRange();
  const [open, setOpen] = useState(false);
  const severities = Object.entries(pattern.severities).sort(([, a], [, b]) => b - a);
  const isError = pattern.severityNumber >= 17;
  return (
    <li className="border-line/60 border-b">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-1.5 hover:bg-hover">
        <button
          type="button"
          data-row-link
          aria-expanded={open}
          aria-label={`${open ? "Hide" : "Show"} an example of ${pattern.pattern || "empty bodies"}`}
          className="grid size-6 shrink-0 place-items-center rounded text-ink2 hover:text-ink"
          onClick={() => setOpen(!open)}
        >
          <ChevronRight size={13} aria-hidden className={open ? "rotate-90" : ""} />
        </button>
        <span className="w-28 shrink-0">
          <span className="flex justify-between text-dense tabular-nums">
            <span>
              {mark}
              {count(pattern.count)}
            </span>
            <span className="text-ink2">{percent(pattern.share)}</span>
          </span>
          <span aria-hidden className="mt-0.5 block h-1 rounded-full bg-line">
            <span
              className={`block h-1 rounded-full ${isError ? "bg-error" : "bg-accent"}`}
              style={{ width: `${Math.max(1, pattern.share * 100)}%` }}
            />
          </span>
        </span>
        <span className="shrink-0">
          <Sparkline points={pattern.trend} span={span} tone={isError ? "error" : "accent"} label="Records" />
        </span>
        <span className="flex w-18 shrink-0">
          <SeverityMark text={pattern.severityText} number={pattern.severityNumber} />
        </span>
        <button
          type="button"
          className="link min-w-0 flex-1 basis-64 text-left font-mono text-dense [overflow-wrap:anywhere] max-sm:basis-full"
          title="Show these records"
          onClick={() => onAdd(pattern.query)}
        >
          <Words pattern={pattern.pattern} />
        </button>
        <span className="shrink-0 text-dense text-ink2">
          <Ago at={pattern.lastSeen} />
        </span>
      </div>
      {open && (
        <div className="border-accent border-l-2 bg-panel px-4 py-2">
          <p className="text-dense text-ink2">
            First <Ago at={pattern.firstSeen} />, last <Ago at={pattern.lastSeen} />
            {pattern.services.length > 0 && ` · ${pattern.services.join(", ")}`}
            {severities.length > 1 &&
              ` · ${severities.map(([name, rows]) => `${mark}${count(rows)} ${name || "without severity"}`).join(", ")}`}
          </p>
          <h3 className="mt-1 font-semibold">Example</h3>
          <pre className="max-h-64 overflow-auto font-mono text-dense" tabIndex={0}>
            <LongText text={pattern.example || "(empty)"} />
          </pre>
          <button
            type="button"
            className="btn mt-2"
            onClick={() => onAdd(pattern.query.startsWith("-") ? pattern.query.slice(1) : `-${pattern.query}`)}
          >
            Exclude these records
          </button>
        </div>
      )}
    </li>
  );
}

/** The pattern with its variables set apart. */
function Words({ pattern }: { pattern: string }) {
  if (!pattern) return <>(empty)</>;
  return pattern.split(/(<num>|<id>|<hex>|<ip>|<\*>)/).map((part, i) =>
    i % 2 ? (
      <span key={i} className="rounded-sm bg-accentsoft px-0.5 text-accent">
        {part}
      </span>
    ) : (
      part
    ),
  );
}
