import { TriangleAlert } from "lucide-react";
import { useLacks } from "../api/incomplete";

const WORDS = {
  rows: "Incomplete: some data of a range you looked at was damaged and set aside. Figures and lists lack it.",
  spans: "Incomplete: more spans match a child. condition than one query looks at. Narrow the time range or the query.",
};

/** Notice above every page while a response lacks damaged rows that were set aside, or did not look at all spans. */
export function Incomplete() {
  const lacks = useLacks();
  return (
    <div role="status">
      {lacks && (
        <p className="flex items-center gap-2 bg-warnsoft px-4 py-2 text-warn">
          <TriangleAlert size={15} aria-hidden className="shrink-0" />
          {WORDS[lacks]}
        </p>
      )}
    </div>
  );
}
