import { usePost } from "../../api/hooks";
import { useRange } from "../../api/range";
import { align, slots } from "../../model/buckets";
import { profileValue } from "../../model/profiles";
import { dateTime, parseMs } from "../../model/time";
import type { ProfileSelection } from "../../model/types";
import { usePatchSearch } from "../../parts/listSearch";
import { QueryView, SkeletonBox } from "../../parts/states";
import { Select } from "../../ui/Select";
import { ChartFigure } from "../../viz/ChartFigure";
import { LineChart } from "../../viz/LineChart";
import { slotVariable } from "../../viz/palette";

const LINES_MAX = 8;
const WORDS: Record<string, string> = { appVersion: "version", serverName: "server" };

interface Point {
  timestamp: string;
  value: number;
}

/** The values of the selection over time, together or by a dimension. */
export function Series({
  selection,
  by,
  dimensions,
}: {
  selection: ProfileSelection;
  by?: string;
  dimensions: string[];
}) {
  const patch = usePatchSearch();
  const dimension = by && dimensions.includes(by) ? by : undefined;
  const whole = usePost("/api/profiles/series", selection, { enabled: !dimension });
  const parts = usePost(
    "/api/profiles/series/breakdown",
    { ...selection, dimension: dimension ?? "appVersion", limit: LINES_MAX },
    { enabled: !!dimension },
  );
  const chooser = dimensions.length > 0 && (
    <Select
      show
      label="by"
      value={dimension ?? ""}
      options={[
        { value: "", label: "nothing" },
        ...dimensions.map((one) => ({ value: one, label: WORDS[one] ?? one.replace("label:", "") })),
      ]}
      onChange={(next) => patch({ by: next || undefined }, true)}
    />
  );
  return dimension ? (
    <QueryView query={parts} skeleton={<SkeletonBox height={190} />}>
      {(answer) => (
        <Lines
          lines={answer.series.map((one) => ({ label: one.key || "(none)", points: one.points }))}
          answer={answer}
          actions={chooser}
          note={answer.others ? `${answer.others} more are not drawn.` : ""}
        />
      )}
    </QueryView>
  ) : (
    <QueryView query={whole} skeleton={<SkeletonBox height={190} />}>
      {(answer) => <Lines lines={[{ label: "Value", points: answer.points }]} answer={answer} actions={chooser} />}
    </QueryView>
  );
}

function Lines({
  lines,
  answer,
  actions,
  note,
}: {
  lines: { label: string; points: Point[] }[];
  answer: { intervalMinutes: number; unit: string; isGauge: boolean };
  actions: React.ReactNode;
  note?: string;
}) {
  const { span, zoomTo } = useRange();
  const intervalMs = Math.max(1, answer.intervalMinutes) * 60_000;
  const starts = slots(span.fromMs, span.toMs, intervalMs);
  const format = (value: number) => profileValue(value, answer.unit);
  const series = lines.map((line, i) => ({
    label: line.label,
    colour: slotVariable(i),
    values: align(
      starts,
      line.points.map((point) => ({ ms: parseMs(point.timestamp), value: point.value })),
      intervalMs,
    ),
  }));
  const title = answer.isGauge ? "Latest of each instance" : `Sum of ${answer.intervalMinutes} min`;
  return (
    <ChartFigure
      title={title}
      summary={`${title}, ${series.length} lines. ${note ?? ""}`}
      legend={series.length > 1 ? series.map((one) => ({ label: one.label, colour: `var(${one.colour})` })) : undefined}
      actions={
        <>
          {note && <span className="text-ink2">{note}</span>}
          {actions}
        </>
      }
      table={() => ({
        head: ["Time", ...series.map((one) => one.label)],
        rows: starts.map((start, i) => [
          dateTime(start),
          ...series.map((one) => {
            const value = one.values[i];
            return value === null || value === undefined ? "–" : format(value);
          }),
        ]),
      })}
    >
      <LineChart starts={starts} intervalMs={intervalMs} series={series} height={150} format={format} onZoom={zoomTo} />
    </ChartFigure>
  );
}
