import { getRouteApi } from "@tanstack/react-router";
import { count, durationMs, percent, score } from "../../model/format";
import type { EndpointDetail, EndpointRow } from "../../model/types";
import {
  APDEX_BANDS,
  APDEX_WORDS,
  apdexLevel,
  isJunkName,
  PER_MINUTE_WORDS,
  PERCENTILE_WORDS,
  SERVER_ERROR_WORDS,
  UNMATCHED,
} from "../../model/words";
import { Estimated } from "../../parts/Estimated";
import { occurrenceColumns, statusColumn } from "../../parts/occurrenceColumns";
import { Section, type StatItem } from "../../parts/Page";
import { EntityName } from "../entities/EntityName";
import { StatusMix } from "./StatusMix";

const route = getRouteApi("/p/$pid/endpoints/$name");
const COLUMNS = occurrenceColumns<EndpointRow, "status_code">(statusColumn);

export function EndpointPage() {
  const { name } = route.useParams();
  return (
    <EntityName
      kind="endpoint"
      name={name}
      mono
      sub={<About name={name} />}
      search={route.useSearch()}
      columns={COLUMNS}
      rowsTitle="Requests"
      about="Each request to this endpoint is listed here and opens as a trace."
      stats={numbers}
      more={(detail) => (
        <Section title="Answers by status">
          <StatusMix counts={detail.statusCounts ?? {}} />
        </Section>
      )}
    />
  );
}

function About({ name }: { name: string }) {
  if (name === UNMATCHED) return <span>Requests answered 404 that no route of the application took.</span>;
  if (isJunkName(name))
    return <span>These spans carried no HTTP method, so the name is the span's own and the status is unknown.</span>;
  return null;
}

function numbers({ stats }: EndpointDetail): StatItem[] {
  const apdex = stats.apdex ?? null;
  // Without calls, or without calls that have a duration, there is no percentile (not 0).
  const any = <T,>(value: T) => (stats.count > 0 ? value : null);
  const timed = (ms: number) => durationMs(apdex === null ? null : ms);
  return [
    { label: "Calls", value: <Estimated of={stats} /> },
    { label: "Per minute", value: count(any(stats.throughput)), help: PER_MINUTE_WORDS },
    { label: "Usual (p50)", value: timed(stats.medianDuration), help: PERCENTILE_WORDS.p50 },
    { label: "Slow (p95)", value: timed(stats.p95Duration), help: PERCENTILE_WORDS.p95 },
    { label: "Slowest (p99)", value: timed(stats.p99Duration), help: PERCENTILE_WORDS.p99 },
    {
      label: "Server errors",
      value: percent(any(stats.serverErrorRate)),
      help: SERVER_ERROR_WORDS,
      tone: stats.serverErrorRate >= 0.01 ? "error" : undefined,
    },
    {
      label: "Client errors",
      value: percent(any(stats.clientErrorRate)),
      tone: (stats.clientErrorRate ?? 0) >= 0.1 ? "warn" : undefined,
    },
    {
      label: `Apdex (${APDEX_BANDS.detail})`,
      value: score(apdex),
      help: APDEX_WORDS.detail,
      tone: apdex === null ? undefined : apdexLevel(apdex),
    },
  ];
}
