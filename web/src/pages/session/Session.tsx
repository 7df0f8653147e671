// One session: its recording, and what happened during it on one timeline.
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { ApiError } from "../../api/client";
import { useProjectId } from "../../api/hooks";
import { fetchSession, type SessionDetail, type SessionRow } from "../../api/sessions";
import { durationNs, plural } from "../../model/format";
import { deviceOf, pageOf, userOf } from "../../model/replay/session";
import { bounds } from "../../model/replay/timeline";
import { exactTime, parseMs } from "../../model/time";
import { PageHead } from "../../parts/Page";
import { Empty, QueryView, SkeletonBox } from "../../parts/states";
import { Chip } from "../../ui/Chip";
import { CopyButton } from "../../ui/Copy";
import { Recording } from "./Recording";

const route = getRouteApi("/p/$pid/sessions/$id");

export function SessionPage() {
  const pid = useProjectId();
  const { id } = route.useParams();
  const { at } = route.useSearch();
  const query = useQuery({
    queryKey: [pid, "/api/sessions/{id}", id, at],
    queryFn: ({ signal }) => fetchSession(pid, id, at, signal),
    // A recording that is being watched must not begin anew.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  });
  if (query.error instanceof ApiError && query.error.status === 404) return <Nothing id={id} />;
  return (
    <QueryView query={query} skeleton={<Skeleton />}>
      {(detail) => <Detail key={detail.session.id} detail={detail} />}
    </QueryView>
  );
}

function Detail({ detail }: { detail: SessionDetail }) {
  const { session } = detail;
  const { t } = route.useSearch();
  const span = useMemo(() => {
    const startMs = parseMs(session.startedAt);
    const endMs = session.endedAt ? parseMs(session.endedAt) : startMs + session.duration / 1e6;
    const segments = detail.segments.map((one) => ({
      startMs: parseMs(one.startedAt),
      endMs: parseMs(one.endedAt),
    }));
    return bounds({ startMs, endMs }, segments);
  }, [session, detail.segments]);
  return (
    <>
      <Head session={session} errors={detail.errors.filter((one) => !one.isMessage).length} />
      <Recording detail={detail} span={span} first={(t ?? 0) * 1000} />
    </>
  );
}

function Head({ session, errors }: { session: SessionRow; errors: number }) {
  const user = userOf(session);
  const facts = [deviceOf(session), pageOf(session.attributes), session.appVersion && `version ${session.appVersion}`];
  return (
    <PageHead
      title={user ? `Session of ${user}` : "Session"}
      sub={
        <>
          {session.endedAt === null && <Chip tone="ok">open</Chip>}
          <span>{exactTime(session.startedAt).replace(/\.\d+$/, "")}</span>
          {session.duration > 0 && <span>{durationNs(session.duration)}</span>}
          {errors > 0 && <span className="text-error">{plural(errors, "error")}</span>}
          {facts.filter(Boolean).map((fact) => (
            <span key={fact} className="[overflow-wrap:anywhere]">
              {fact}
            </span>
          ))}
          <span className="inline-flex items-center gap-1 font-mono text-dense">
            {session.id.slice(0, 8)}
            <CopyButton text={session.id} label="Copy the session id" />
          </span>
        </>
      }
    />
  );
}

function Skeleton() {
  return (
    <div className="grid gap-4 p-4 xl:grid-cols-[minmax(0,1fr)_420px]">
      <SkeletonBox height={520} />
      <SkeletonBox height={520} />
    </div>
  );
}

function Nothing({ id }: { id: string }) {
  const pid = useProjectId();
  return (
    <Empty
      heading
      title="No such session"
      action={
        <Link to="/p/$pid/sessions" params={{ pid }} className="btn">
          All sessions
        </Link>
      }
    >
      The session {id} is not stored. It may be older than the retention, or its user's sessions were deleted.
    </Empty>
  );
}
