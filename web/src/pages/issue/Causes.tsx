// Attributes that the requests of an Issue share and others lack.

import { Explain } from "../../parts/explain/Explain";
import { usePatchSearch } from "../../parts/listSearch";

interface Props {
  hash: string;
  search: { explain?: string; where?: string };
}

/** Value of the search parameter `explain`: all events of the Issue. */
export const ALL_EVENTS = "all";

export function Causes({ hash, search }: Props) {
  const patch = usePatchSearch();
  if (!search.explain) return null;
  return (
    <Explain
      entity="issue"
      name={hash}
      words="Requests and task runs in which this issue occurred"
      where={search.where}
      onClose={() => patch({ explain: undefined, where: undefined })}
      onWhere={(where) => patch({ where })}
    />
  );
}
