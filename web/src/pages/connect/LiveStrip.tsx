// Received, refused and dropped records of the last hour. Polled every two seconds.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleCheck, Lightbulb, OctagonAlert, RadioTower, TriangleAlert } from "lucide-react";
import { request } from "../../api/client";
import { useProjectId } from "../../api/hooks";
import { plural } from "../../model/format";
import type { Drops } from "../../model/types";
import { droppedSentence, rejectedSentence } from "../../model/words";
import { Ago } from "../../parts/Ago";
import { TraceLink } from "../../parts/occurrenceColumns";
import { ErrorState } from "../../parts/states";

const HOUR = 3_600_000;
const POLL_MS = 2000;

export function useArrivals() {
  const projectId = useProjectId();
  return useQuery({
    queryKey: [projectId, "arrivals"],
    refetchInterval: POLL_MS,
    queryFn: ({ signal }) => {
      const now = Date.now();
      const body = { fromDate: new Date(now - HOUR).toISOString(), toDate: new Date(now + 60_000).toISOString() };
      return request<Drops>("POST", "/api/drops", { query: { projectId }, body, signal });
    },
  });
}

export function LiveStrip() {
  const query = useArrivals();
  if (query.isError && !query.data) return <ErrorState error={query.error} retry={() => query.refetch()} />;
  const drops = query.data;
  const kept = (signal: string) =>
    (drops?.kept ?? [])
      .filter((one) => one.signal === signal || one.signal === SIGNALS[signal])
      .reduce((sum, one) => sum + one.count, 0);
  const spans = kept("spans");
  const others = [
    [kept("logs"), "log record"],
    [kept("metrics"), "metric point"],
  ].filter(([amount]) => Number(amount) > 0) as [number, string][];
  const any = spans > 0 || others.length > 0 || !!drops?.lastSpan;
  return (
    <section aria-label="Arriving now" className="panel overflow-hidden">
      <div className={`px-4 py-3 ${any ? "bg-oksoft" : "bg-panel"}`} role="status">
        {any ? <ReceivedSummary drops={drops!} spans={spans} others={others} /> : <AwaitingFirstSpan />}
      </div>
      <RefusedList drops={drops} />
      <UnpromotedAi spans={drops?.unpromotedAiSpans ?? 0} />
    </section>
  );
}

/** Hint: a setting turns these spans into AI Traces. */
function UnpromotedAi({ spans }: { spans: number }) {
  const pid = useProjectId();
  if (!spans) return null;
  return (
    <p className="flex items-start gap-3 border-line border-t px-4 py-2">
      <Lightbulb size={16} aria-hidden className="mt-0.5 shrink-0 text-accent" />
      <span>
        {plural(spans, "model call")} arrived without gen_ai attributes (OpenInference, Langfuse or the Vercel AI SDK).{" "}
        <Link to="/p/$pid/settings" params={{ pid }} className="link">
          Make them AI Traces
        </Link>
      </span>
    </p>
  );
}

const SIGNALS: Record<string, string> = { spans: "traces", metrics: "metricPoints" };

function AwaitingFirstSpan() {
  return (
    <div className="flex items-center gap-3">
      <span className="relative grid size-6 place-items-center">
        <span aria-hidden className="absolute inset-0 animate-ping rounded-full bg-accent/25" />
        <RadioTower size={16} aria-hidden className="text-accent" />
      </span>
      <div>
        <p className="font-semibold">Waiting for the first span…</p>
        <p className="text-ink2">Nothing has arrived in the last hour. This line changes by itself.</p>
      </div>
    </div>
  );
}

function ReceivedSummary({ drops, spans, others }: { drops: Drops; spans: number; others: [number, string][] }) {
  const last = drops.lastSpan;
  return (
    <div className="flex items-start gap-3">
      <CircleCheck size={20} aria-hidden className="mt-0.5 shrink-0 text-ok" />
      <div className="min-w-0">
        <p className="font-semibold">
          Got {plural(spans, "span")}
          {others.map(([amount, word]) => `, ${plural(amount, word)}`).join("")} in the last hour
        </p>
        {last && (
          <p className="[overflow-wrap:anywhere]">
            Last one <span className="font-mono text-dense">{last.name}</span> from{" "}
            <span className="font-mono text-dense">{last.serviceName || "a service without a name"}</span>{" "}
            <span aria-live="off">
              <Ago at={last.receivedAt} fast />
            </span>{" "}
            <TraceLink traceId={last.traceId} className="link whitespace-nowrap font-medium">
              Open trace
            </TraceLink>
          </p>
        )}
      </div>
    </div>
  );
}

/** Refused requests and dropped records. */
function RefusedList({ drops }: { drops: Drops | undefined }) {
  const pid = useProjectId();
  const refused = (drops?.requests ?? []).filter((one) => one.outcome === "rejected" && one.count > 0);
  // `data` contains refused requests too.
  const isRequest = (reason: string) => refused.some((one) => one.reason === reason);
  const dropped = (drops?.data ?? []).filter((one) => one.count > 0 && !isRequest(one.reason));
  if (!refused.length && !dropped.length) return null;
  return (
    <ul className="divide-y divide-line border-line border-t">
      {refused.map((one) => (
        <li key={one.signal + one.reason} className="flex items-start gap-3 px-4 py-2">
          <OctagonAlert size={16} aria-hidden className="mt-0.5 shrink-0 text-error" />
          <span>
            {rejectedSentence(one.signal, one.reason, one.count)}
            {one.lastMessage && (
              <span className="block text-ink2 [overflow-wrap:anywhere]">
                The last sender heard: <q>{one.lastMessage}</q>
              </span>
            )}
            {HELP[one.reason] && <span className="block text-ink2">{HELP[one.reason]}</span>}
          </span>
        </li>
      ))}
      {dropped.map((one) => (
        <li key={one.signal + one.reason} className="flex items-start gap-3 px-4 py-2">
          <TriangleAlert size={16} aria-hidden className="mt-0.5 shrink-0 text-warn" />
          <span>
            {droppedSentence(one.signal, one.reason, one.count)}{" "}
            {one.reason === "unmatched_root" && (
              <Link to="/p/$pid/settings" params={{ pid }} className="link">
                Keep them
              </Link>
            )}
          </span>
        </li>
      ))}
      <li className="px-4 py-1.5 text-caption text-ink2">In the last hour</li>
    </ul>
  );
}

const HELP: Record<string, string> = {
  bad_token: "Compare the Authorization header with the token on this page.",
  too_large: "Make the exporter's batches smaller.",
  grpc: "Compress with gzip or zstd, and let proxies speak HTTP/2 to this server; or set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf.",
};
