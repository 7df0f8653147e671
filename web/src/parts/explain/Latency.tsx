// The heatmap of an entity, and the explanation of what is selected in it.
import { usePost } from "../../api/hooks";
import { useRange } from "../../api/range";
import type { PostRoutes } from "../../api/routes";
import { count, durationNs, plural } from "../../model/format";
import {
  LONGEST_NS,
  parseSelection,
  type Selection,
  selectionBody,
  selectionText,
  spikeOf,
  type TimeBox,
} from "../../model/selection";
import { dateTime, parseMs } from "../../model/time";
import { ChartFigure } from "../../viz/ChartFigure";
import { Heatmap } from "../../viz/Heatmap";
import { usePatchSearch } from "../listSearch";
import { QueryView, SkeletonBox } from "../states";
import { Explain } from "./Explain";

type ExplainedEntity = "endpoint" | "task" | "ai_trace" | "trace";

interface Props {
  entity: ExplainedEntity;
  name?: string;
  /** The selection, and the condition within which it is explained, of the URL. */
  search: { explain?: string; where?: string };
}

/** Selections that one click explains. */
function presetsOf(map: PostRoutes["/api/heatmap"]["answer"]): { label: string; of: Selection }[] {
  const spike = spikeOf({ ...map, startMs: parseMs(map.fromDate), slowNs: map.slowNs ?? null });
  const newest = map.marks.at(-1)?.version;
  return [
    { label: "Explain slow", of: { kind: "slow" } },
    { label: "Explain errors", of: { kind: "errors" } },
    ...(spike ? [{ label: "Explain spike", of: { kind: "box", box: spike } as const }] : []),
    ...(newest ? [{ label: `Explain version ${newest}`, of: { kind: "version", version: newest } as const }] : []),
  ];
}

export function Latency({ entity, name, search }: Props) {
  const { body } = useRange();
  const patch = usePatchSearch();
  const selection = parseSelection(search.explain);
  const select = (next: Selection | null) => patch({ explain: next ? selectionText(next) : undefined });
  const request = { ...body, entity, name, query: search.where };
  const query = usePost("/api/heatmap", request);
  return (
    <section aria-label="Latency" className="space-y-4">
      <QueryView query={query} skeleton={<SkeletonBox height={260} />}>
        {(map) => {
          const startMs = parseMs(map.fromDate);
          const presets = presetsOf(map);
          const isOn = (one: Selection) => !!selection && selectionText(selection) === selectionText(one);
          return (
            <ChartFigure
              title="Latency"
              summary={`${plural(map.total, "row")} by time, in ${map.columns} columns, and duration, in ${map.rows.length} rows.`}
              actions={
                <fieldset className="inline-flex flex-wrap gap-1">
                  <legend className="sr-only">Explain</legend>
                  {presets.map(({ label, of }) => (
                    <button
                      key={label}
                      type="button"
                      className="btn max-w-64 truncate"
                      aria-pressed={isOn(of)}
                      disabled={!map.total}
                      onClick={() => select(isOn(of) ? null : of)}
                    >
                      {label}
                    </button>
                  ))}
                </fieldset>
              }
              table={() => ({
                head: ["Time", "Duration from", "to", "Count", "Failed"],
                rows: map.cells.map((cell) => [
                  dateTime(startMs + cell.column * map.columnMs),
                  durationNs(map.rows[cell.row].fromNs),
                  durationNs(map.rows[cell.row].toNs),
                  count(cell.count),
                  count(cell.errors),
                ]),
              })}
            >
              <Heatmap
                data={{
                  startMs,
                  columnMs: map.columnMs,
                  columns: map.columns,
                  rows: map.rows,
                  cells: map.cells,
                  marks: map.marks.map((mark) => ({ ms: parseMs(mark.at), version: mark.version })),
                }}
                height={230}
                box={selection?.kind === "box" ? selection.box : null}
                onSelect={(box) => select({ kind: "box", box })}
              />
              <p className="mt-1 text-dense text-ink2">
                {map.total
                  ? "Drag over a region to explain it: what its rows have in common, and where their time went."
                  : "Nothing was measured in this time range."}
                {map.streams > 0 && ` ${plural(map.streams, "streaming response")} not shown.`}
              </p>
            </ChartFigure>
          );
        }}
      </QueryView>
      {selection && query.data && (
        <Explain
          entity={entity}
          name={name}
          selection={selectionBody(selection, query.data.slowNs ?? null, entity === "trace")}
          words={selectionWords(selection, query.data.slowNs ?? null)}
          where={search.where}
          onClose={() => patch({ explain: undefined, where: undefined })}
          onWhere={(where) => patch({ where })}
        />
      )}
    </section>
  );
}

function selectionWords(selection: Selection, slowNs: number | null): string {
  if (selection.kind === "version") return `Version ${selection.version}`;
  if (selection.kind === "slow") return `Slow: ${durationNs(slowNs)} and more`;
  if (selection.kind === "errors") return selection.time ? `Failed, ${timeWords(selection.time)}` : "Failed";
  if (selection.kind === "refused") return `Refused, ${timeWords(selection.time)}`;
  if (selection.kind === "time") return `All, ${timeWords(selection.time)}`;
  const { fromNs, toNs } = selection.box;
  const durations =
    toNs === LONGEST_NS ? `${durationNs(fromNs)} and more` : `${durationNs(fromNs)} to ${durationNs(toNs)}`;
  return `${timeWords(selection.box)}, ${durations}`;
}

function timeWords({ fromMs, toMs }: TimeBox): string {
  const minute = (ms: number) => dateTime(ms).replace(/:\d\d$/, "");
  return `${minute(fromMs)} to ${minute(toMs)}`;
}
