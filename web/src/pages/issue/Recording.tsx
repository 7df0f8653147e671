// The recording of the event: what its user saw and did before it.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { MonitorPlay } from "lucide-react";
import { lazy, Suspense } from "react";
import { useProjectId } from "../../api/hooks";
import { type ClipDocuments, fetchClip } from "../../api/sessions";
import { AFTER_MS, BEFORE_MS } from "../../model/replay/clip";
import { parseMs } from "../../model/time";
import type { IssueOccurrence } from "../../model/types";
import { Section } from "../../parts/Page";
import { ErrorState, SkeletonBox } from "../../parts/states";

// Loaded lazily: most issues have no recording.
const Clip = lazy(() => import("../../parts/replay/Clip").then((module) => ({ default: module.Clip })));

export function Recording({ occurrence, title }: { occurrence: IssueOccurrence; title: string }) {
  const pid = useProjectId();
  const query = useQuery({
    queryKey: [pid, "clip", occurrence.id],
    queryFn: ({ signal }) => fetchClip(pid, occurrence, { beforeMs: BEFORE_MS, afterMs: AFTER_MS }, signal),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
    refetchOnWindowFocus: false,
  });
  const { sessionId, recordedAt } = occurrence;
  return (
    <Section
      title="Before the error"
      actions={
        sessionId && (
          <Link to="/p/$pid/sessions/$id" params={{ pid, id: sessionId }} search={{ at: recordedAt }} className="btn">
            <MonitorPlay size={14} aria-hidden /> Whole session
          </Link>
        )
      }
    >
      <Body query={query} occurrence={occurrence} title={title} />
    </Section>
  );
}

function Body({
  query,
  occurrence,
  title,
}: {
  query: { data?: ClipDocuments; error: Error | null; refetch: () => unknown };
  occurrence: IssueOccurrence;
  title: string;
}) {
  if (query.data?.own || query.data?.session.length)
    return (
      <Suspense fallback={<SkeletonBox height={480} />}>
        <Clip key={occurrence.id} documents={query.data} atMs={parseMs(occurrence.recordedAt)} title={title} />
      </Suspense>
    );
  if (query.data)
    return (
      <p className="text-ink2">
        {occurrence.hasRecording
          ? "The recording of this event is not stored any more."
          : "The session of this event is known, but this moment was not recorded."}
      </p>
    );
  if (query.error) return <ErrorState error={query.error} retry={query.refetch} />;
  return <SkeletonBox height={480} />;
}
