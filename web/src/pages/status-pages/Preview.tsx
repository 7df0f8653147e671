// Preview of a status page as visitors see it, without its links and forms.

import { ApiError } from "../../api/client";
import { problemWords } from "../../model/problem";
import type { PublicCheck, PublicStatus } from "../../model/types";
import { Chip } from "../../ui/Chip";

export function Preview({ status, error }: { status: PublicStatus | undefined; error: Error | null }) {
  if (!status)
    return (
      <p className="text-ink2">
        {error
          ? problemWords({ status: error instanceof ApiError ? error.status : 0, message: error.message })
          : "Name the page and choose at least one monitor."}
      </p>
    );
  const groups = [...new Set(status.checks.map((check) => check.group))];
  return (
    <div className="space-y-3">
      <div>
        <p className="font-semibold text-title [overflow-wrap:anywhere]">{status.name}</p>
        {status.description && (
          <p className="whitespace-pre-line text-ink2 [overflow-wrap:anywhere]">{status.description}</p>
        )}
      </div>
      {groups.map((group) => (
        <div key={group}>
          {group && <p className="mb-1 font-semibold [overflow-wrap:anywhere]">{group}</p>}
          <ul className="divide-y divide-line">
            {status.checks
              .filter((check) => check.group === group)
              .map((check) => (
                <Check key={check.name} check={check} />
              ))}
          </ul>
        </div>
      ))}
    </div>
  );
}

const WORDS: Record<string, string> = { up: "Operational", down: "Down", unknown: "Not checked yet" };

function Check({ check }: { check: PublicCheck }) {
  return (
    <li className="py-2">
      <div className="flex flex-wrap items-baseline justify-between gap-2">
        <span className="font-medium [overflow-wrap:anywhere]">{check.name}</span>
        <Chip tone={check.status === "up" ? "ok" : check.status === "down" ? "error" : "plain"}>
          {WORDS[check.status] ?? check.status}
        </Chip>
      </div>
      <Bars check={check} />
      <p className="text-dense text-ink2">
        {check.uptimePct == null ? "No checks in 90 days" : `${check.uptimePct.toFixed(2)} % available in 90 days`}
      </p>
    </li>
  );
}

/** One bar per day; days with failures are shorter. */
function Bars({ check }: { check: PublicCheck }) {
  return (
    <svg
      viewBox={`0 0 ${check.days.length * 10} 40`}
      preserveAspectRatio="none"
      className="my-1 block h-7 w-full"
      role="img"
      aria-label={`90 days of ${check.name}`}
    >
      {check.days.map((day, index) => {
        const checked = day.total - day.missed;
        const share = checked > 0 ? day.up / checked : null;
        const [fill, y] =
          share === null
            ? ["var(--control)", 0]
            : share >= 1
              ? ["var(--ok)", 0]
              : share >= 0.95
                ? ["var(--warn)", 7]
                : ["var(--error)", 14];
        return <rect key={day.bucket} x={index * 10 + 1} y={y} width={8} height={40 - y} fill={fill} />;
      })}
    </svg>
  );
}
