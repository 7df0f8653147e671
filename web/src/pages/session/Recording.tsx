// The player and the tabs beside it.
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { RotateCw } from "lucide-react";
import { type ReactNode, useCallback, useEffect, useMemo, useRef } from "react";
import { useProjectId } from "../../api/hooks";
import { fetchSegment, type SessionDetail } from "../../api/sessions";
import { plural } from "../../model/format";
import { type Bounds, buildTimeline, isFailed, marks, type SegmentRef, toTenths } from "../../model/replay/timeline";
import { shownVitals } from "../../model/replay/vitals";
import { parseMs } from "../../model/time";
import { ActionList, ConsoleList, NetworkList } from "../../parts/replay/Lists";
import { Player } from "../../parts/replay/Player";
import { Replay } from "../../parts/replay/replay";
import { useSegments } from "../../parts/replay/useSegments";
import { SearchLink } from "../../ui/SearchLink";
import { TAB } from "../../ui/Tabs";
import { Details } from "./Details";
import { Errors } from "./Errors";
import { TraceOfCall } from "./TraceOfCall";
import { Vitals } from "./Vitals";

const route = getRouteApi("/p/$pid/sessions/$id");

/** `first` is the position in milliseconds at which the page opens. */
export function Recording({ detail, span, first }: { detail: SessionDetail; span: Bounds; first: number }) {
  const pid = useProjectId();
  const { id } = detail.session;
  const replay = useMemo(() => new Replay(span.startMs, span.endMs - span.startMs, first), [span]);
  const refs = useMemo(
    () =>
      detail.segments.map(
        (one): SegmentRef => ({
          index: one.segmentIndex,
          startMs: parseMs(one.startedAt),
          endMs: parseMs(one.endedAt),
        }),
      ),
    [detail.segments],
  );
  const load = useCallback(
    (ref: SegmentRef, signal: AbortSignal) => fetchSegment(pid, id, ref.index, signal),
    [pid, id],
  );
  const { segments, pending, failed, retry } = useSegments(refs, load, replay);
  const known = useMemo(() => refs.filter((ref) => !failed.includes(ref)), [refs, failed]);
  const timeline = useMemo(() => buildTimeline(span, segments, known), [span, segments, known]);
  const errors = useMemo(
    () => detail.errors.map((one) => ({ ...one, at: parseMs(one.recordedAt) })).sort((a, b) => a.at - b.at),
    [detail.errors],
  );
  const exceptions = useMemo(() => errors.filter((one) => !one.isMessage), [errors]);
  const marked = useMemo(() => marks(timeline, exceptions), [timeline, exceptions]);
  const waiting = useMemo(
    () => pending.map((ref) => ({ from: ref.startMs - span.startMs, to: ref.endMs - span.startMs })),
    [pending, span],
  );
  useEffect(() => {
    // Until all have arrived, an idle stretch may hold a segment that has not.
    replay.setStretches([...(waiting.length ? [] : timeline.idle), ...timeline.missing], waiting);
  }, [replay, timeline, waiting]);
  useKeptPosition(replay);
  const vitals = shownVitals(timeline.vitals, detail.session.attributes);
  const tabs: Tab[] = [
    {
      value: "console",
      label: "Console",
      count: timeline.logs.length,
      body: () => <ConsoleList replay={replay} timeline={timeline} />,
    },
    {
      value: "network",
      label: "Network",
      count: timeline.network.length,
      errors: timeline.network.filter(isFailed).length,
      body: () => (
        <NetworkList replay={replay} timeline={timeline} link={(call) => <TraceOfCall call={call} errors={errors} />} />
      ),
    },
    {
      value: "actions",
      label: "Pages",
      count: timeline.navigation.length + timeline.actions.length + timeline.clicks.length,
      body: () => <ActionList replay={replay} timeline={timeline} />,
    },
    {
      value: "errors",
      label: "Errors",
      count: errors.length - exceptions.length,
      errors: exceptions.length,
      body: () => <Errors replay={replay} startMs={span.startMs} errors={errors} />,
    },
    ...(vitals.length
      ? [
          {
            value: "vitals",
            label: "Vitals",
            count: vitals.length,
            body: () => <Vitals vitals={vitals} replay={replay} startMs={span.startMs} />,
          },
        ]
      : []),
    {
      value: "attributes",
      label: "Details",
      body: () => <Details detail={detail} />,
    },
  ];
  return (
    <div className="grid items-start gap-4 px-4 pb-6 xl:grid-cols-[minmax(0,1fr)_minmax(380px,480px)]">
      <div className="min-w-0 space-y-2">
        {failed.length > 0 && (
          <div role="alert" className="flex flex-wrap items-center gap-3 rounded-control bg-warnsoft px-3 py-1.5">
            <p className="min-w-48 flex-1">
              {plural(failed.length, "part")} of {refs.length} of the recording could not be loaded.
            </p>
            <button type="button" className="btn" onClick={retry}>
              <RotateCw size={14} aria-hidden /> Try again
            </button>
          </div>
        )}
        <Player
          replay={replay}
          timeline={timeline}
          marks={marked}
          pending={waiting}
          keys="page"
          absent={
            refs.length
              ? "This app sends no picture of its screen. What it logged and did is in the tabs; a row there moves the mark on the timeline."
              : "No recording arrived for this session: it was switched off in the app or in the project's settings, or the browser closed before its first part was sent."
          }
        />
      </div>
      <Tabs tabs={tabs} />
    </div>
  );
}

interface Tab {
  value: string;
  label: string;
  count?: number;
  /** Of those, how many are errors. */
  errors?: number;
  body: () => ReactNode;
}

function Tabs({ tabs }: { tabs: Tab[] }) {
  const { tab } = route.useSearch();
  const open = tabs.find((one) => one.value === tab) ?? tabs[0];
  return (
    <section
      aria-label="During the session"
      className="panel flex h-[440px] min-w-0 flex-col overflow-hidden xl:h-[calc(60vh+140px)]"
    >
      <nav aria-label="What happened" className="flex shrink-0 gap-0.5 overflow-x-auto border-line border-b px-1">
        {tabs.map((one) => (
          <SearchLink
            key={one.value}
            change={{ tab: one === tabs[0] ? undefined : one.value }}
            replace
            current={one === open}
            className={`${TAB} px-1.5! text-dense`}
          >
            {one.label}
            {!!one.count && <span className="rounded bg-hover px-1 text-caption text-ink2">{one.count}</span>}
            {!!one.errors && (
              <span className="rounded bg-errorsoft px-1 text-caption text-error">
                {one.errors}
                <span className="sr-only"> failed</span>
              </span>
            )}
          </SearchLink>
        ))}
      </nav>
      <div className="min-h-0 flex-1">{open.body()}</div>
    </section>
  );
}

/** Writes the position into the URL when the player stands still, so that a copied link opens there. */
function useKeptPosition(replay: Replay): void {
  const navigate = useNavigate();
  const written = useRef<number | null>(null);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const unsubscribe = replay.subscribe(() => {
      const { isPlaying, at } = replay.state;
      const seconds = toTenths(at);
      clearTimeout(timer);
      if (isPlaying || seconds === written.current) return;
      timer = setTimeout(() => {
        written.current = seconds;
        void navigate({
          to: ".",
          search: (old: Record<string, unknown>) => ({ ...old, t: seconds || undefined }),
          replace: true,
          resetScroll: false,
        } as never);
      }, 300);
    });
    return () => {
      clearTimeout(timer);
      unsubscribe();
    };
  }, [replay, navigate]);
}
