import type { Span } from "../../model/range";
import type { EndpointGroup } from "../../model/types";
import { endpointColumns } from "../entities/endpointColumns";
import { RankedTable } from "../entities/RankedTable";

/** The endpoints that hurt most. */
export function WorstEndpoints({ rows, span }: { rows: EndpointGroup[]; span: Span }) {
  const columns = endpointColumns(span);
  return (
    <RankedTable kind="endpoint" label="Worst endpoints" columns={columns} rows={rows} nameOf={(row) => row.endpoint} />
  );
}
