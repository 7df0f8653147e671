// The seconds before an exception: a small player with the console, the requests and the actions below it.
import { useEffect, useMemo, useState } from "react";
import type { ClipDocuments } from "../../api/sessions";
import { AFTER_MS, BEFORE_MS, clipSegments } from "../../model/replay/clip";
import { bounds, buildTimeline, marks } from "../../model/replay/timeline";
import { Segmented } from "../../ui/Segmented";
import { ActionList, ConsoleList, NetworkList } from "./Lists";
import { Player } from "./Player";
import { Replay } from "./replay";

type View = "console" | "network" | "actions";

/** `atMs` is the time of the exception. */
export function Clip({ documents, atMs, title }: { documents: ClipDocuments; atMs: number; title: string }) {
  const [view, setView] = useState<View>("console");
  const { replay, timeline } = useMemo(() => {
    const { played, segments } = clipSegments(documents.own, documents.session);
    const all = bounds({ startMs: Number.NaN, endMs: Number.NaN }, segments);
    const span = {
      startMs: Math.max(all.startMs, Math.min(atMs - BEFORE_MS, all.endMs - 1)),
      // The last recorded event may precede the exception.
      endMs: Math.max(Math.min(all.endMs, atMs + AFTER_MS), Math.min(atMs, all.endMs + AFTER_MS)),
    };
    // The engine takes the buffers, and this effect-free part may run twice.
    const player = new Replay(span.startMs, Math.max(1, span.endMs - span.startMs));
    for (const [i, one] of played.entries()) player.add(i, one.slice(0));
    return { replay: player, timeline: within(buildTimeline(span, segments, documents.own ? [] : segments)) };
  }, [documents, atMs]);
  const marked = useMemo(
    () => marks(timeline, [{ at: atMs, title }]).filter(({ at }) => at <= timeline.lengthMs),
    [timeline, atMs, title],
  );
  useEffect(() => replay.setStretches([], []), [replay]);
  const views: { value: View; label: string }[] = [
    { value: "console", label: `Console ${timeline.logs.length}` },
    { value: "network", label: `Requests ${timeline.network.length}` },
    { value: "actions", label: `Pages ${timeline.navigation.length + timeline.actions.length}` },
  ];
  return (
    <div className="space-y-3">
      <Player
        replay={replay}
        timeline={timeline}
        marks={marked}
        pending={[]}
        keys="player"
        most="420px"
        absent="This app sends no picture of its screen; what it logged and did is below."
      />
      <div className="panel overflow-hidden">
        <div className="border-line border-b p-2">
          <Segmented label="What happened before the error" value={view} options={views} onChange={setView} />
        </div>
        <div className="h-56">
          {view === "console" && <ConsoleList replay={replay} timeline={timeline} />}
          {view === "network" && <NetworkList replay={replay} timeline={timeline} />}
          {view === "actions" && <ActionList replay={replay} timeline={timeline} />}
        </div>
      </div>
    </div>
  );
}

type Timeline = ReturnType<typeof buildTimeline>;

/** Only entries of the clip. */
function within(timeline: Timeline): Timeline {
  const { startMs, lengthMs } = timeline;
  const inside = <T extends { at: number }>(all: T[]) =>
    all.filter(({ at }) => at >= startMs && at <= startMs + lengthMs);
  const between = (all: number[]) => all.filter((at) => at >= 0 && at <= lengthMs);
  return {
    ...timeline,
    logs: inside(timeline.logs),
    network: inside(timeline.network),
    navigation: inside(timeline.navigation),
    actions: inside(timeline.actions),
    activity: between(timeline.activity),
    clicks: inside(timeline.clicks),
    idle: [],
  };
}
