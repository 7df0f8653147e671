// Where the time of an entity's rows goes: own time by operation or by service, of a sample of the range.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { usePost, useProjectId } from "../../api/hooks";
import { useRange } from "../../api/range";
import type { PostRoutes } from "../../api/routes";
import { brief, count, durationMs, percent, plural } from "../../model/format";
import { Section } from "../../parts/Page";
import { QueryView, SkeletonRows } from "../../parts/states";
import { Segmented } from "../../ui/Segmented";

type Answer = PostRoutes["/api/breakdown"]["answer"];

/** Milliseconds of the second attempt, when the first was partial. */
const PATIENCE_MS = 8000;
const FIRST = 8;

interface Props {
  entity: PostRoutes["/api/breakdown"]["body"]["entity"];
  name: string;
  /** Only rows that pass this query count. */
  where?: string;
  by?: "service";
  onBy: (by: "service" | undefined) => void;
}

export function WhereTime({ entity, name, where, by, onBy }: Props) {
  const { body } = useRange();
  const [budgetMs, setBudget] = useState<number | undefined>(undefined);
  const query = usePost("/api/breakdown", { ...body, entity, name, query: where, budgetMs });
  return (
    <Section
      title="Where the time goes"
      actions={
        <Segmented
          label="Own time by"
          value={by ?? "operation"}
          options={[
            { value: "operation", label: "Operation" },
            { value: "service", label: "Service" },
          ]}
          onChange={(value) => onBy(value === "service" ? value : undefined)}
        />
      }
    >
      <QueryView query={query} skeleton={<SkeletonRows rows={3} />}>
        {(answer) => (
          <div className="space-y-3">
            {answer.measured > 0 ? (
              <Bars answer={answer} by={by} />
            ) : (
              <p className="text-ink2">No spans of this time range are stored.</p>
            )}
            <p className="flex flex-wrap items-center gap-2 text-dense text-ink2">
              {sampleWords(answer)}
              {answer.partial && budgetMs === undefined && (
                <button type="button" className="btn" onClick={() => setBudget(PATIENCE_MS)}>
                  Read more
                </button>
              )}
            </p>
          </div>
        )}
      </QueryView>
    </Section>
  );
}

function sampleWords({ rows, measured, partial }: Answer): string {
  if (!measured) return "";
  const mean = "Own time is the time in which no span below runs; a row without the operation counts as 0.";
  if (measured >= rows) return `Mean of all ${plural(rows, "row")}. ${mean}`;
  const why = partial ? " Not every span was read in time." : "";
  return `Mean of ${count(measured)} of ${plural(rows, "row")}, a uniform sample by trace id.${why} ${mean}`;
}

interface Line {
  key: string;
  label: string;
  sub?: string;
  meanMs: number;
  share: number;
  rows: number;
  /** A search of traces. */
  query?: string;
}

function linesOf(answer: Answer, by: Props["by"]): Line[] {
  const none = "no service name";
  if (by === "service") return answer.services.map((one) => ({ ...one, key: one.service, label: one.service || none }));
  return answer.data.map((one) => ({
    ...one,
    key: `${one.service} ${one.operation}`,
    label: one.operation,
    sub: one.service || none,
  }));
}

function Bars({ answer, by }: { answer: Answer; by: Props["by"] }) {
  const [all, setAll] = useState(false);
  const lines = linesOf(answer, by);
  const shown = all ? lines : lines.slice(0, FIRST);
  return (
    <>
      <ol aria-label={by === "service" ? "Own time by service" : "Own time by operation"} className="space-y-2">
        {shown.map((line) => (
          <li key={line.key}>
            <p className="flex flex-wrap items-baseline gap-x-3">
              <Name line={line} />
              {line.sub && (
                <span className="min-w-0 text-dense text-ink2 [overflow-wrap:anywhere]" title={line.sub}>
                  {brief(line.sub)}
                </span>
              )}
              <span className="num ml-auto text-dense">
                {durationMs(line.meanMs)} · {percent(line.share)}
                <span className="text-ink2"> · in {percent(line.rows / answer.measured)} of rows</span>
              </span>
            </p>
            <span aria-hidden className="block h-2 rounded-[2px] bg-hover">
              <span
                className="block h-full rounded-[2px] bg-(--c1)"
                style={{ width: `${Math.max(0.5, line.share * 100)}%` }}
              />
            </span>
          </li>
        ))}
      </ol>
      {lines.length > FIRST && (
        <button type="button" className="btn" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? "Show fewer" : `Show all ${lines.length}`}
        </button>
      )}
      {by !== "service" && answer.restMs > 0 && (
        <p className="text-dense text-ink2">Other operations: {durationMs(answer.restMs)} a row.</p>
      )}
    </>
  );
}

/** An operation is a link to the traces in which it ran. */
function Name({ line }: { line: Line }) {
  const pid = useProjectId();
  if (!line.query) return <span className="min-w-0 [overflow-wrap:anywhere]">{brief(line.label)}</span>;
  return (
    <Link
      to="/p/$pid/traces"
      params={{ pid }}
      search={{ q: line.query } as never}
      className="link min-w-0 font-mono text-dense [overflow-wrap:anywhere]"
      title="Traces with this operation"
    >
      {brief(line.label)}
    </Link>
  );
}
