// How the values of a tag are spread over the events of an issue.

export interface Tag {
  values: { value: string; count: number }[];
  /** Values there are, with those that `values` leaves out. */
  distinct: number;
  /** Events that have one of them. */
  count: number;
}
export interface Spread {
  /** `share` is of all events, also of those without the tag. */
  rows: { value: string; count: number; share: number }[];
  /** Values that are not in `rows`. */
  more: number;
  /** Events without the tag. */
  without: number;
}

export function spread(tag: Tag, events: number, most = 5): Spread {
  const rows = tag.values.slice(0, most).map((one) => ({ ...one, share: events > 0 ? one.count / events : 0 }));
  return { rows, more: Math.max(0, tag.distinct - rows.length), without: Math.max(0, events - tag.count) };
}
