// Distribution of a tag's values over the events of an issue.

export interface Tag {
  values: { value: string; count: number }[];
  /** Number of distinct values, including those not in `values`. */
  distinct: number;
  /** Number of events with the tag. */
  count: number;
}
export interface Spread {
  /** `share` is relative to all events, including those without the tag. */
  rows: { value: string; count: number; share: number }[];
  /** Number of values not in `rows`. */
  more: number;
  /** Number of events without the tag. */
  without: number;
}

export function spread(tag: Tag, events: number, most = 5): Spread {
  const rows = tag.values.slice(0, most).map((one) => ({ ...one, share: events > 0 ? one.count / events : 0 }));
  return { rows, more: Math.max(0, tag.distinct - rows.length), without: Math.max(0, events - tag.count) };
}
