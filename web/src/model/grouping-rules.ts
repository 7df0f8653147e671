// The effect of a grouping rule in words.
import { count, plural } from "./format";
import type { GroupingRulePreview } from "./types";

/** "Would join 4 Issues (1,204 events), split 0": of the events of the last seven days. */
export function previewWords(preview: GroupingRulePreview): string {
  if (preview.events === 0) return "No event of the last seven days meets the query.";
  const joins = `Would join ${plural(preview.joinedIssues, "Issue")} (${plural(preview.joinedEvents, "event")})`;
  const of = preview.partial ? ` Of the latest ${plural(preview.readEvents, "event")}.` : "";
  return `${joins}, split ${count(preview.splitIssues)}.${of}`;
}

/** The ids with one moved by a number of places. */
export function moved(ids: number[], id: number, by: -1 | 1): number[] {
  const from = ids.indexOf(id);
  const to = from + by;
  if (from < 0 || to < 0 || to >= ids.length) return ids;
  const next = [...ids];
  next.splice(from, 1);
  next.splice(to, 0, id);
  return next;
}
