import { count, percent } from "../../model/format";
import { StatusCode } from "../../parts/EntityChips";

const CLASSES = [
  { label: "unknown", from: 0, to: 200, colour: "var(--c-other)" },
  { label: "2xx success", from: 200, to: 300, colour: "var(--ok)" },
  { label: "3xx redirect", from: 300, to: 400, colour: "var(--control)" },
  { label: "4xx client error", from: 400, to: 500, colour: "var(--warn)" },
  { label: "5xx server error", from: 500, to: 1000, colour: "var(--error)" },
];

/** Distribution of responses by status: a bar by class, then each code. */
export function StatusMix({ counts }: { counts: Record<string, number> }) {
  const codes = Object.entries(counts)
    .map(([code, amount]) => ({ code: Number(code), amount }))
    .sort((a, b) => a.code - b.code);
  const total = codes.reduce((sum, one) => sum + one.amount, 0);
  if (!total) return <p className="text-ink2">No statuses recorded.</p>;
  const inClass = (from: number, to: number) =>
    codes.filter((one) => one.code >= from && one.code < to).reduce((sum, one) => sum + one.amount, 0);
  const known = CLASSES.map((one) => ({ ...one, amount: inClass(one.from, one.to) })).filter((one) => one.amount > 0);
  return (
    <div>
      <div
        className="flex h-3 gap-px overflow-hidden rounded"
        role="img"
        aria-label={known.map((one) => `${one.label}: ${percent(one.amount / total)}`).join(", ")}
      >
        {known.map((one) => (
          <div
            key={one.label}
            className={one.from === 500 ? "hatch" : ""}
            style={{
              width: `${(one.amount / total) * 100}%`,
              minWidth: 3,
              backgroundColor: one.from === 500 ? "color-mix(in srgb, var(--error) 45%, transparent)" : one.colour,
            }}
          />
        ))}
      </div>
      <ul className="mt-3 flex flex-wrap gap-x-5 gap-y-2">
        {codes.map(({ code, amount }) => (
          <li key={code} className="flex items-center gap-2">
            {code ? <StatusCode code={code} /> : <span className="chip">unknown</span>}
            <span>{count(amount)}</span>
            <span className="text-ink2">{percent(amount / total)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
