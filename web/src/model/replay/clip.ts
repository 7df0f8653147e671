// The seconds around an exception, out of its own recording and the segments of its session.
import { readSegment, type Segment } from "./segment";

/** The clip of an exception begins so long before it. */
export const BEFORE_MS = 15_000;
/** Time after the clip in which the user's next actions are shown too, if recorded. */
export const AFTER_MS = 5000;

const parse = (json: ArrayBuffer, index: number) => readSegment(JSON.parse(new TextDecoder().decode(json)), index);

/**
 * `played` are the documents whose picture is shown, `segments` what all of them say. The picture of a segment that
 * overlaps the exception's own recording is in that recording too; its console and its requests are not.
 */
export function clipSegments(own: ArrayBuffer | null, session: readonly ArrayBuffer[]) {
  const parsed = session.map((json, index) => ({ json, segment: parse(json, index) }));
  if (!own) return { played: [...session], segments: parsed.map(({ segment }) => segment) };
  const clip = parse(own, -1);
  const isApart = ({ segment }: { segment: Segment }) => segment.endMs <= clip.startMs || segment.startMs >= clip.endMs;
  return {
    played: [own, ...parsed.filter(isApart).map(({ json }) => json)],
    segments: [clip, ...parsed.map((one) => (isApart(one) ? one.segment : { ...one.segment, video: [], events: 0 }))],
  };
}
