// Attributes that the log records of a query share and others of the same minutes lack.

import { Explain } from "../../parts/explain/Explain";
import { usePatchSearch } from "../../parts/listSearch";

export function Causes({ query, where }: { query: string; where?: string }) {
  const patch = usePatchSearch();
  return (
    <div className="max-h-[50vh] overflow-y-auto px-4 py-3">
      <Explain
        entity="log"
        selection={{ query, fromDate: null, toDate: null }}
        words={query}
        where={where}
        onClose={() => patch({ explain: undefined, where: undefined })}
        onWhere={(next) => patch({ where: next })}
      />
    </div>
  );
}
