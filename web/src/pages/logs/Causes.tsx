// What the log records of a query share that others of the same minutes lack.
import { logSelection } from "../../model/log-selection";
import { usePatchSearch } from "../../parts/listSearch";
import type { LogSearch } from "../../router";
import { Explain } from "../explain/Explain";

export function Causes({ search }: { search: LogSearch }) {
  const patch = usePatchSearch();
  const query = logSelection(search);
  if (!search.explain || !query) return null;
  return (
    <div className="max-h-[50vh] overflow-y-auto px-4 py-3">
      <Explain
        entity="log"
        name={search.service}
        selection={{ query, fromDate: null, toDate: null }}
        words={query}
        where={search.where}
        onClose={() => patch({ explain: undefined, where: undefined })}
        onWhere={(where) => patch({ where })}
      />
    </div>
  );
}
