// Columns of differences from a compared period, with its sample counts.
import type { EntityKind } from "../../api/entities";
import { usePost } from "../../api/hooks";
import { useRange } from "../../api/range";
import { changeSign, relativeChange, SAMPLES_MIN } from "../../model/compare";
import { count, durationNs, usd } from "../../model/format";
import type { Compared } from "../../model/types";
import { useCompare } from "../../parts/compare";
import type { Column } from "../../parts/DataTable";

const KINDS = { endpoint: "endpoint", task: "task", aiTrace: "ai_trace" } as const;

/** The values that are compared. */
interface Row {
  count: number;
  storedCount: number;
  p50Duration: number;
  p95Duration: number;
  errorCount: number;
  totalCost?: number | null;
}

/** The compared period of the names, by name; null without a comparison. */
export function useCompared(kind: EntityKind, names: string[], query: string): Map<string, Compared> | null {
  const { comparison, before } = useCompare();
  const answer = usePost(
    "/api/compare",
    { kind: KINDS[kind], names, query, ...before },
    { enabled: !!comparison && names.length > 0 },
  );
  if (!comparison) return null;
  return new Map((answer.data?.data ?? []).map((one) => [one.name, one]));
}

/** Columns that leave room for the differences. */
const HIDDEN = new Set(["trend", "last", "apdex", "in", "p99", "per", "tokens"]);

export function withDeltas<R extends Row, Order extends string>(
  columns: Column<R, Order>[],
  compared: Map<string, Compared> | null,
  nameOf: (row: R) => string,
): Column<R, Order>[] {
  if (!compared) return columns;
  const of = (row: R) => compared.get(nameOf(row));
  const hasCost = columns.some((column) => column.key === "cost");
  const delta = (key: string, head: string, values: (row: R, before: Compared) => Values): Column<R, Order> => ({
    key,
    head,
    num: true,
    width: "104px",
    cell: (row) => <Delta row={row} before={of(row)} values={values} />,
  });
  return [
    ...columns.filter((column) => !HIDDEN.has(column.key)),
    {
      key: "before",
      head: "Calls before",
      help: "Calls of the compared time. Differences need 20 calls on both sides.",
      num: true,
      width: "96px",
      className: "text-ink2",
      cell: (row) => count(of(row)?.count ?? 0),
    },
    delta("dp50", "p50 ±", (row, before) => [row.p50Duration || null, before.p50Duration, durationNs]),
    delta("dp95", "p95 ±", (row, before) => [row.p95Duration || null, before.p95Duration, durationNs]),
    {
      key: "derrors",
      head: "Failed ±",
      help: "Percentage points of failed calls.",
      num: true,
      width: "88px",
      cell: (row) => <Points row={row} before={of(row)} />,
    },
    ...(hasCost
      ? [delta("dcost", "Cost ±", (row, before) => [row.totalCost ?? null, before.totalCost ?? null, usd])]
      : []),
  ];
}

type Values = [now: number | null, before: number | null | undefined, format: (value: number | null) => string];

function Delta<R extends Row>({
  row,
  before,
  values,
}: {
  row: R;
  before: Compared | undefined;
  values: (row: R, before: Compared) => Values;
}) {
  if (!before) return <span className="text-ink2">new</span>;
  const [now, then, format] = values(row, before);
  if (now === null || then === null || then === undefined) return <span className="text-ink2">–</span>;
  const change = relativeChange(now, then, row.storedCount, before.storedCount);
  const was = `before ${format(then)}`;
  if (change === null)
    return (
      <span className="text-ink2" title={`Fewer than ${SAMPLES_MIN} calls: no percentage.`}>
        {was}
      </span>
    );
  return (
    <span className={tone(change)}>
      {changeSign(change)}
      <span className="block text-caption text-ink2">{was}</span>
    </span>
  );
}

function Points({ row, before }: { row: Row; before: Compared | undefined }) {
  if (!before) return <span className="text-ink2">new</span>;
  if (row.storedCount < SAMPLES_MIN || before.storedCount < SAMPLES_MIN)
    return <span className="text-ink2">{`${count(before.errorCount)} of ${count(before.count)}`}</span>;
  const points = (row.errorCount / row.count - before.errorCount / before.count) * 100;
  const text = Math.abs(points) < 0.05 ? "±0" : `${points > 0 ? "+" : "−"}${Math.abs(points).toFixed(1)}`;
  return (
    <span className={points >= 0.3 ? "font-medium text-error" : points <= -0.3 ? "text-ok" : "text-ink2"}>{text}</span>
  );
}

function tone(change: number): string {
  return change >= 0.15 ? "font-medium text-error" : change <= -0.15 ? "text-ok" : "";
}

/** The numbers of one name against the compared time; nothing without a comparison. */
export function ComparedNumbers({ kind, name }: { kind: EntityKind; name: string }) {
  const { body } = useRange();
  const before = useCompared(kind, [name], "");
  const { comparison } = useCompare();
  const query = usePost("/api/compare", { kind: KINDS[kind], names: [name], ...body }, { enabled: !!comparison });
  if (!before || !query.data) return null;
  const [now, then] = [query.data.data[0], before.get(name)];
  if (!now || !then) return <p className="text-ink2">{now ? "No calls" : "Nothing"} to compare with.</p>;
  const part = (label: string, a: number | null, b: number | null, format: (value: number | null) => string) => {
    const change = a === null || b === null ? null : relativeChange(a, b, now.storedCount, then.storedCount);
    return {
      label,
      text: change === null ? "" : `${changeSign(change)}, `,
      was: format(b),
      tone: change === null ? "" : tone(change),
    };
  };
  const parts = [
    part("p50", now.p50Duration ?? null, then.p50Duration ?? null, durationNs),
    part("p95", now.p95Duration ?? null, then.p95Duration ?? null, durationNs),
    part("p99", now.p99Duration ?? null, then.p99Duration ?? null, durationNs),
    ...(kind === "aiTrace" ? [part("Cost", now.totalCost ?? null, then.totalCost ?? null, usd)] : []),
  ];
  return (
    <dl aria-label="Compared" className="panel flex flex-wrap gap-x-6 gap-y-1 px-3 py-2">
      <div>
        <dt className="text-caption text-ink2">Calls</dt>
        <dd>
          {count(now.count)}, before {count(then.count)}
        </dd>
      </div>
      {parts.map((one) => (
        <div key={one.label}>
          <dt className="text-caption text-ink2">{one.label}</dt>
          <dd>
            <span className={one.tone}>{one.text}</span>before {one.was}
          </dd>
        </div>
      ))}
      <div>
        <dt className="text-caption text-ink2">Failed</dt>
        <dd>
          <Points row={{ ...now, p50Duration: 0, p95Duration: 0 }} before={then} />
          {now.storedCount >= SAMPLES_MIN && then.storedCount >= SAMPLES_MIN && " points"}
        </dd>
      </div>
    </dl>
  );
}
