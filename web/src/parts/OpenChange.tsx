// The chip of an open change, and the times and the selection that explain a change.
import { useQueries } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { TrendingUp } from "lucide-react";
import { useGlobalFilter, withFilter } from "../api/global-filter";
import { postOptions, usePost, useProjectId } from "../api/hooks";
import { useRange } from "../api/range";
import {
  changeChip,
  changedServices,
  changeSentence,
  moment,
  type OpenChange,
  type ServedSince,
} from "../model/open-changes";
import { changeSelection, selectionText } from "../model/selection";
import { isoFromMs, parseMs } from "../model/time";
import type { ChangeCard } from "../model/types";
import { Tip } from "../ui/Tip";

/** Pages of the subjects that have one. */
export const SUBJECT_PAGES = {
  endpoint: "/p/$pid/endpoints/$name",
  task: "/p/$pid/tasks/$name",
  ai_trace: "/p/$pid/ai/$name",
} as const;

const MINUTE_MS = 60_000;

/** The changes of the page's range in full minutes, as they are computed: pages of one minute share the answer. */
export function useChangesQuery() {
  const { span } = useRange();
  const body = {
    fromDate: isoFromMs(Math.floor(span.fromMs / MINUTE_MS) * MINUTE_MS),
    toDate: isoFromMs(Math.ceil(span.toMs / MINUTE_MS) * MINUTE_MS),
  };
  return usePost("/api/overview/changes", body, { freshMs: MINUTE_MS });
}

/** The changes of the page's range; empty while they are not known. */
export function useChanges(): ChangeCard[] {
  return useChangesQuery().data?.data ?? [];
}

/** The end of the times since a change: that of the range, and a minute at least. */
export function sinceBody(card: ChangeCard, toMs: number) {
  return { fromDate: card.since, toDate: isoFromMs(Math.max(toMs, parseMs(card.since) + MINUTE_MS)) };
}

/** Services whose numbers since a change are read. */
const SERVICES_READ = 5;

/** The worst open change of each service, and the calls that the service has served since; absent until they are read. */
export function useChangedServices(): Map<string, ServedSince & { card: ChangeCard }> {
  const projectId = useProjectId();
  const { span } = useRange();
  const filter = useGlobalFilter();
  const changed = [...changedServices(useChanges())].slice(0, SERVICES_READ);
  const route = "/api/services/map";
  const answers = useQueries({
    queries: changed.map(([service, card]) =>
      postOptions(
        projectId,
        route,
        { ...sinceBody(card, span.toMs), service },
        { query: withFilter(filter, route, undefined) },
      ),
    ),
  });
  return new Map(
    changed.map(([service, card], index) => {
      const { nodes = [], edges = [] } = answers[index]?.data ?? {};
      const node = nodes.find((one) => one.kind === "service" && one.name === service);
      return [service, { card, stats: node?.stats, calls: edges.filter((edge) => edge.to === node?.id) }];
    }),
  );
}

/** Says that the numbers above are those since an open change. */
export function SinceNote({ card }: { card: ChangeCard }) {
  const { span } = useRange();
  return (
    <p className="mt-1.5 text-caption text-ink2">
      Numbers since {moment(parseMs(card.since), span.toMs)}; charts show the whole time range.
    </p>
  );
}

/** From half an hour before a change to its end, or to that of the range. */
export function useChangeTimes(card: ChangeCard) {
  const { span } = useRange();
  const since = Date.parse(card.since);
  const from = new Date(since - 30 * 60_000).toISOString();
  const to = card.recovered ?? new Date(Math.max(span.toMs, since + 60_000)).toISOString();
  return { from, to };
}

/** The search parameters that explain a change on its subject's page; null when nothing explains it. */
export function useWhy(card: ChangeCard): Record<string, string> | null {
  const times = useChangeTimes(card);
  const selection = changeSelection(card, parseMs(times.to));
  return selection && { ...times, explain: selectionText(selection) };
}

/** "6.7 × since 05:51": opens the explanation. `suffers`: the change is another subject's, of which this one suffers. */
export function ChangeChip({ card, suffers }: OpenChange) {
  const pid = useProjectId();
  const { span } = useRange();
  const times = useChangeTimes(card);
  const why = useWhy(card);
  const text = suffers ? `suffers ${changeChip({ ...card, effects: [] }, span.toMs)}` : changeChip(card, span.toMs);
  const content = (
    <>
      <TrendingUp size={11} aria-hidden />
      {text}
    </>
  );
  const className = `chip ${suffers ? "chip-warn" : "chip-error"} over-row`;
  if (card.kind === "issue" || card.kind === "service")
    return (
      <Tip text={changeSentence(card, span.toMs)}>
        <span className={className}>{content}</span>
      </Tip>
    );
  return (
    <Tip text={changeSentence(card, span.toMs)}>
      <Link
        to={SUBJECT_PAGES[card.kind]}
        params={{ pid, name: card.name }}
        search={(why ?? times) as never}
        className={className}
        aria-label={`${text}. Why? ${card.name}`}
      >
        {content}
      </Link>
    </Tip>
  );
}
