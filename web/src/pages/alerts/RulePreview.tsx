// A rule over the last seven days: its value, the threshold, and when it would have fired.
import { useEffect, useState } from "react";
import { type NewRule, type Preview, useRulePreview } from "../../api/rules";
import { count, usd, withUnit } from "../../model/format";
import { dateTime, parseMs } from "../../model/time";
import { ErrorState, SkeletonBox } from "../../parts/states";
import { ChartFigure } from "../../viz/ChartFigure";
import { LineChart } from "../../viz/LineChart";

type Previewed = Pick<NewRule, "ruleType" | "config" | "cooldownMinutes">;

const HEIGHT = 140;
/** Typing is not followed key by key. */
const TYPING_MS = 400;

export function RulePreview({ rule }: { rule: Previewed }) {
  const wanted = JSON.stringify(rule);
  const [settled, setSettled] = useState(wanted);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(wanted), TYPING_MS);
    return () => clearTimeout(timer);
  }, [wanted]);
  const query = useRulePreview(JSON.parse(settled) as Previewed);
  if (query.error) return <ErrorState slim error={query.error} retry={() => void query.refetch()} />;
  if (!query.data) return <SkeletonBox height={HEIGHT + 60} />;
  return <Drawn preview={query.data} />;
}

function Drawn({ preview }: { preview: Preview }) {
  const { series, threshold, unit, firings } = preview;
  const format = (value: number) => (unit === "USD" ? usd(value) : withUnit(value, unit));
  const starts = series.map((point) => parseMs(point.timestamp));
  const steps = starts.slice(1).map((start, index) => start - starts[index]);
  const intervalMs = steps.length ? Math.min(...steps) : 60_000;
  const times = starts.length ? range(starts[0], starts[starts.length - 1], intervalMs) : [];
  const byTime = new Map(series.map((point, index) => [starts[index], point.value]));
  const values = times.map((time) => byTime.get(time) ?? null);
  const summary = preview.count
    ? `It would have fired ${count(preview.count)} ${preview.count === 1 ? "time" : "times"} in the last 7 days.`
    : "It would not have fired in the last 7 days.";
  return (
    <ChartFigure
      title="The last 7 days"
      summary={summary}
      table={() => ({
        head: ["Time", "Would have fired"],
        rows: firings.map((firing) => [dateTime(parseMs(firing.timestamp)), firing.subject]),
      })}
    >
      <p role="status" className="mb-1 text-ink2">
        {summary}
      </p>
      <LineChart
        starts={times}
        intervalMs={intervalMs}
        height={HEIGHT}
        format={format}
        series={[
          { label: "Value", colour: "--c1", values },
          ...(threshold === null
            ? []
            : [{ label: "Threshold", colour: "--c2", dash: true, values: times.map(() => threshold) }]),
        ]}
      />
      {firings.length > 0 && (
        <ol
          className="mt-2 max-h-32 space-y-0.5 overflow-y-auto text-dense"
          aria-label="Moments at which it would have fired"
        >
          {firings
            .slice(-20)
            .reverse()
            .map((firing) => (
              <li key={`${firing.timestamp} ${firing.subject}`} className="flex flex-wrap gap-x-2">
                <time dateTime={firing.timestamp} className="text-ink2">
                  {dateTime(parseMs(firing.timestamp))}
                </time>
                <span className="[overflow-wrap:anywhere]">{firing.subject}</span>
              </li>
            ))}
        </ol>
      )}
    </ChartFigure>
  );
}

/** The starts of all intervals; at most as many as a preview has points. */
function range(from: number, to: number, step: number): number[] {
  const length = Math.min(Math.floor((to - from) / step) + 1, 2100);
  return Array.from({ length }, (_, index) => from + index * step);
}
