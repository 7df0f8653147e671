// The tabs beside the player: console, network, pages and actions.
import { CircleAlert, CircleSlash, Info, MousePointerClick, Navigation2, Search, TriangleAlert } from "lucide-react";
import { type ReactNode, useCallback, useMemo, useState } from "react";
import { bytes, durationRound } from "../../model/format";
import type { CustomAction, Level, LogLine, Navigation, NetworkCall } from "../../model/replay/segment";
import { isFailed, path, type Timeline } from "../../model/replay/timeline";
import { Select } from "../../ui/Select";
import { EventList } from "./EventList";
import type { Replay } from "./replay";

interface Props {
  replay: Replay;
  timeline: Timeline;
}

const LEVELS: Record<Level, { rank: number; icon: ReactNode; tone: string }> = {
  debug: { rank: 0, icon: <span className="text-ink2 text-caption">dbg</span>, tone: "text-ink2" },
  info: { rank: 1, icon: <Info size={13} aria-label="info" className="text-accent" />, tone: "" },
  warn: { rank: 2, icon: <TriangleAlert size={13} aria-label="warning" className="text-warn" />, tone: "bg-warnsoft" },
  error: { rank: 3, icon: <CircleAlert size={13} aria-label="error" className="text-error" />, tone: "bg-errorsoft" },
};

export function ConsoleList({ replay, timeline }: Props) {
  const [least, setLeast] = useState<Level>("debug");
  const [query, setQuery] = useState("");
  const rows = useMemo(() => {
    const wanted = query.toLowerCase();
    return timeline.logs.filter(
      (one) => LEVELS[one.level].rank >= LEVELS[least].rank && one.message.toLowerCase().includes(wanted),
    );
  }, [timeline.logs, least, query]);
  return (
    <WithFilter
      label="Filter the console"
      query={query}
      onQuery={setQuery}
      more={
        <Select
          label="Level"
          value={least}
          options={[
            { value: "debug", label: "All levels" },
            { value: "info", label: "Info and up" },
            { value: "warn", label: "Warnings and errors" },
            { value: "error", label: "Errors" },
          ]}
          onChange={(value) => setLeast(value as Level)}
        />
      }
    >
      <EventList<LogLine>
        label="Console"
        replay={replay}
        rows={rows}
        at={useOffset(timeline)}
        tone={(row) => LEVELS[row.level].tone}
        empty={timeline.logs.length ? "No line matches." : "The page wrote nothing to the console."}
      >
        {(row) => (
          <>
            <span className="flex h-5 w-5 shrink-0 items-center">{LEVELS[row.level].icon}</span>
            <span className="line-clamp-4 min-w-0 whitespace-pre-wrap font-mono text-dense leading-5 [overflow-wrap:anywhere]">
              {row.message.slice(0, 2000)}
            </span>
          </>
        )}
      </EventList>
    </WithFilter>
  );
}

/** `link` draws the way from a request to its trace. */
export function NetworkList({ replay, timeline, link }: Props & { link?: (call: NetworkCall) => ReactNode }) {
  const [query, setQuery] = useState("");
  const [isFailedOnly, setFailedOnly] = useState(false);
  const rows = useMemo(() => {
    const wanted = query.toLowerCase();
    return timeline.network.filter(
      (one) => (!isFailedOnly || isFailed(one)) && `${one.method} ${one.url}`.toLowerCase().includes(wanted),
    );
  }, [timeline.network, query, isFailedOnly]);
  return (
    <WithFilter
      label="Filter the requests"
      query={query}
      onQuery={setQuery}
      more={
        <label className="inline-flex items-center gap-1.5 whitespace-nowrap text-ink2">
          <input
            type="checkbox"
            className="size-4 accent-(--accent)"
            checked={isFailedOnly}
            onChange={(event) => setFailedOnly(event.target.checked)}
          />
          Failed
        </label>
      }
    >
      <EventList<NetworkCall>
        label="Requests"
        replay={replay}
        rows={rows}
        at={useOffset(timeline)}
        tone={(row) => (isFailed(row) ? "bg-errorsoft" : "")}
        beside={link}
        empty={timeline.network.length ? "No request matches." : "No fetch or XMLHttpRequest was recorded."}
      >
        {(row) => (
          <span className="min-w-0 flex-1">
            <span className="flex items-baseline gap-2">
              <span
                className={`w-9 shrink-0 font-mono font-semibold text-dense ${isFailed(row) ? "text-error" : "text-ok"}`}
              >
                {row.status ?? <CircleSlash size={13} aria-label="no response" className="mt-1" />}
              </span>
              <span className="shrink-0 font-mono text-dense text-ink2">{row.method}</span>
              <span className="min-w-0 flex-1 truncate font-mono text-dense" title={row.url}>
                {path(row.url)}
              </span>
              <span className="shrink-0 text-dense text-ink2">{durationRound(row.durationMs)}</span>
            </span>
            {(row.error || row.responseBytes !== null) && (
              <span className="block truncate text-caption text-ink2">
                {row.error || `${bytes(row.responseBytes)} received`}
              </span>
            )}
          </span>
        )}
      </EventList>
    </WithFilter>
  );
}

type Step = { at: number; icon: ReactNode; what: string; detail: string };

export function ActionList({ replay, timeline }: Props) {
  const rows = useMemo(() => steps(timeline), [timeline]);
  return (
    <EventList<Step>
      label="Pages and actions"
      replay={replay}
      rows={rows}
      at={useOffset(timeline)}
      empty="No page change, click or action was recorded."
    >
      {(row) => (
        <>
          <span className="flex h-5 w-5 shrink-0 items-center">{row.icon}</span>
          <span className="min-w-0 flex-1 leading-5">
            <span className="[overflow-wrap:anywhere]">{row.what}</span>{" "}
            <span className="font-mono text-dense text-ink2 [overflow-wrap:anywhere]">{row.detail.slice(0, 600)}</span>
          </span>
        </>
      )}
    </EventList>
  );
}

const WORDS: Record<string, string> = {
  load: "Loaded",
  push: "Went to",
  replace: "Address became",
  pop: "Went back to",
  remove: "Left",
};
/** Clicks on one element that are so close together are one row. */
const CLICKS_MS = 2000;

function steps({ navigation, actions, clicks }: Timeline): Step[] {
  const went = (one: Navigation): Step => ({
    at: one.at,
    icon: <Navigation2 size={13} aria-label="page" className="text-accent" />,
    what: WORDS[one.action] ?? one.action,
    detail: path(one.to || one.from),
  });
  const did = (one: CustomAction): Step => ({
    at: one.at,
    icon: <Info size={13} aria-label="action" className="text-ink2" />,
    what: [one.category, one.name].filter(Boolean).join(" · ") || "Action",
    detail: one.data,
  });
  const clicked: Step[] = [];
  let last: { at: number; label: string; count: number } | null = null;
  for (const { at, label } of clicks) {
    if (last && last.label === label && at - last.at <= CLICKS_MS) {
      last.at = at;
      last.count++;
      clicked[clicked.length - 1].what = `Clicked ${last.count} times`;
      continue;
    }
    last = { at, label, count: 1 };
    clicked.push({
      at,
      icon: <MousePointerClick size={13} aria-label="click" className="text-ink2" />,
      what: label ? "Clicked" : "Clicked on the page",
      detail: label,
    });
  }
  return [...navigation.map(went), ...actions.map(did), ...clicked].sort((a, b) => a.at - b.at);
}

function useOffset({ startMs }: Timeline): (row: { at: number }) => number {
  return useCallback((row) => Math.max(0, row.at - startMs), [startMs]);
}

function WithFilter({
  label,
  query,
  onQuery,
  more,
  children,
}: {
  label: string;
  query: string;
  onQuery: (query: string) => void;
  more: ReactNode;
  children: ReactNode;
}) {
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex items-center gap-2 border-line border-b p-2">
        <span className="relative min-w-0 flex-1">
          <Search size={13} aria-hidden className="absolute top-2 left-2 text-ink2" />
          <input
            className="input pl-7!"
            aria-label={label}
            placeholder="Filter"
            value={query}
            onChange={(event) => onQuery(event.target.value)}
          />
        </span>
        {more}
      </div>
      <div className="min-h-0 flex-1">{children}</div>
    </div>
  );
}
