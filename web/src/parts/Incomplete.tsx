import { TriangleAlert } from "lucide-react";
import { useIsIncomplete } from "../api/incomplete";

/** Notice above every page while a response lacks damaged rows that were set aside. */
export function Incomplete() {
  const isIncomplete = useIsIncomplete();
  return (
    <div role="status">
      {isIncomplete && (
        <p className="flex items-center gap-2 bg-warnsoft px-4 py-2 text-warn">
          <TriangleAlert size={15} aria-hidden className="shrink-0" />
          Incomplete: some data of a range you looked at was damaged and set aside. Figures and lists lack it.
        </p>
      )}
    </div>
  );
}
