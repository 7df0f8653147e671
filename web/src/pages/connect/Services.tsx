// Services that send telemetry, their signals, and hints for missing signals. Polled every five seconds.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useGet, useProjectId } from "../../api/hooks";
import { count, NONE, plural } from "../../model/format";
import { languageWords, listed, type Missing, missingSignals, SIGNAL_WORDS, sdkWords } from "../../model/services";
import type { Services as Answer, PromotedCount, ServiceSeen, SignalSeen } from "../../model/types";
import { Ago } from "../../parts/Ago";
import { CommandBlock } from "../../parts/Command";
import { type Column, DataTable } from "../../parts/DataTable";
import { Estimated } from "../../parts/Estimated";
import { Section } from "../../parts/Page";
import { ServiceName } from "../../parts/ServiceName";

const POLL_MS = 5000;
/** Number of services listed initially. */
const LISTED_FIRST = 8;

export function useServices() {
  return useGet("/api/services", { every: POLL_MS });
}

/** Renders nothing until a service has sent data. */
export function Services() {
  const answer = useServices().data;
  const [all, setAll] = useState(false);
  if (!answer?.services.length) return null;
  const shown = all ? answer.services : answer.services.slice(0, LISTED_FIRST);
  return (
    <Section
      title={
        <>
          {answer.truncated ? "More than " : ""}
          {plural(answer.services.length, "service")}{" "}
          <span className="font-normal text-ink2">in the last 24 hours</span>
        </>
      }
      actions={<span className="text-ink2">Counts are of the last hour</span>}
      flush
    >
      <DataTable label="Services" columns={columns} rows={shown} rowKey={(row) => row.name} />
      {shown.length < answer.services.length && (
        <div className="border-line border-t px-3 py-2">
          <button type="button" className="btn" onClick={() => setAll(true)}>
            Show all {answer.services.length}
          </button>
        </div>
      )}
      <Promoted promoted={answer.promoted} />
      <MissingSignals services={answer.services} />
    </Section>
  );
}

const columns: Column<ServiceSeen>[] = [
  {
    key: "name",
    head: "Service",
    card: "main",
    cell: (row) => (
      <span className="flex min-w-0 items-center gap-3">
        {row.name ? <ServiceName name={row.name} /> : <span className="text-ink2">without a name</span>}
        <span className="ml-auto text-ink2 sm:hidden">
          <Ago at={row.lastSeen} />
        </span>
      </span>
    ),
  },
  { key: "sdk", head: "SDK", card: "half", className: "max-lg:md:hidden", cell: (row) => <Sdk row={row} /> },
  {
    key: "version",
    head: "Version",
    width: "110px",
    cell: (row) =>
      row.version ? (
        <span className="block max-w-32 truncate font-mono text-dense" title={row.version}>
          {row.version}
        </span>
      ) : (
        <span className="text-ink2">{NONE}</span>
      ),
  },
  signal("traces", "Spans", "Stored in the last hour."),
  signal("metrics", "Metric points", "Stored in the last hour."),
  signal("logs", "Log records", "Stored in the last hour."),
  {
    key: "seen",
    head: "Last seen",
    num: true,
    card: "hide",
    width: "110px",
    className: "text-ink2",
    cell: (row) => <Ago at={row.lastSeen} />,
  },
];

function Sdk({ row }: { row: ServiceSeen }) {
  const [language, sdk] = [languageWords(row.language), sdkWords(row)];
  if (!language && !sdk) return <span className="text-ink2">{NONE}</span>;
  return (
    <span className="block min-w-0 truncate" title={[language, sdk].filter(Boolean).join(", ")}>
      {language} <span className="text-ink2">{sdk}</span>
    </span>
  );
}

function signal(key: "traces" | "metrics" | "logs", head: string, help: string): Column<ServiceSeen> {
  return {
    key,
    head,
    help,
    num: true,
    width: "120px",
    cell: (row) => <Arrived signal={key} service={row.name} seen={row[key]} />,
  };
}

function Arrived({
  signal,
  service,
  seen,
}: {
  signal: "traces" | "metrics" | "logs";
  service: string;
  seen: SignalSeen;
}) {
  const pid = useProjectId();
  if (!seen.count) return <span className="text-warn">nothing yet</span>;
  if (!seen.lastHour) return <span className="text-ink2">{seen.lastSeen ? <Ago at={seen.lastSeen} /> : NONE}</span>;
  const amount = count(seen.lastHour);
  const label = `${plural(seen.lastHour, SIGNAL_WORDS[signal].one)} of ${service || "the service without a name"}`;
  if (signal === "metrics" || !service)
    return (
      <Link
        to={signal === "metrics" ? "/p/$pid/metrics" : signal === "logs" ? "/p/$pid/logs" : "/p/$pid/traces"}
        params={{ pid }}
        className="link"
        aria-label={label}
      >
        {amount}
      </Link>
    );
  return (
    <Link
      to={signal === "logs" ? "/p/$pid/logs" : "/p/$pid/traces"}
      params={{ pid }}
      search={{ service }}
      className="link"
      aria-label={label}
    >
      {amount}
    </Link>
  );
}

const TILES = [
  { key: "endpoints", one: "endpoint", runs: "request", to: "/p/$pid/endpoints", none: "no requests" },
  { key: "tasks", one: "task", runs: "run", to: "/p/$pid/tasks", none: "no tasks" },
  { key: "aiTraces", one: "AI trace", runs: "call", to: "/p/$pid/ai", none: "no model calls" },
  { key: "issues", one: "issue", runs: "event", to: "/p/$pid/issues", none: "no exceptions" },
] as const;

/** Endpoints, tasks, AI traces and issues of the last hour. */
function Promoted({ promoted }: { promoted: Answer["promoted"] }) {
  const pid = useProjectId();
  return (
    <dl className="grid grid-cols-2 border-line border-t lg:grid-cols-4" aria-label="What they became in the last hour">
      {TILES.map(({ key, one, runs, to, none }) => {
        const counted: PromotedCount = promoted[key];
        return (
          <div key={key} className="-mb-px -ml-px border-line border-b border-l px-3 py-2">
            <dt className="text-caption text-ink2">{`${one[0].toUpperCase()}${one.slice(1)}s`}, last hour</dt>
            <dd>
              {counted.names ? (
                <>
                  <Link to={to} params={{ pid }} className="link font-semibold">
                    {plural(counted.names, one)}
                  </Link>{" "}
                  <span className="text-ink2">
                    · <Estimated of={counted}>{plural(counted.count, runs)}</Estimated>
                  </span>
                </>
              ) : (
                <span className="text-ink2">{none}</span>
              )}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

function MissingSignals({ services }: { services: ServiceSeen[] }) {
  const missing: Missing[] = missingSignals(services);
  const nameless = services.some((one) => !one.name);
  if (!missing.length && !nameless) return null;
  return (
    <details className="border-line border-t">
      <summary className="cursor-pointer px-3 py-2 font-medium">What is missing, and how to get it</summary>
      <ul className="divide-y divide-line border-line border-t">
        {nameless && (
          <li className="space-y-1.5 px-3 py-2">
            <p>
              <span className="font-medium">No service name</span> on some records, so nobody knows what they are of.
              Set this where the service runs, and restart it:
            </p>
            <CommandBlock label="Environment" code="OTEL_SERVICE_NAME=my-service" />
          </li>
        )}
        {missing.map(({ signal, services, hint }) => (
          <li key={signal + hint.words + hint.code} className="space-y-1.5 px-3 py-2">
            <p className="[overflow-wrap:anywhere]">
              <span className="font-medium">No {SIGNAL_WORDS[signal].many}</span> from {listed(services)}. {hint.words}
            </p>
            {hint.code && <CommandBlock label="Environment" code={hint.code} />}
          </li>
        ))}
      </ul>
    </details>
  );
}
