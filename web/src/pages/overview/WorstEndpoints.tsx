// The endpoints that hurt most, with the numbers since an open change.
import type { Span } from "../../model/range";
import type { EndpointGroup } from "../../model/types";
import { DataTable } from "../../parts/DataTable";
import { endpointColumns } from "../entities/endpointColumns";
import { useVerdicts, withVerdicts } from "../entities/verdicts";

const nameOf = (row: EndpointGroup) => row.endpoint;

export function WorstEndpoints({ rows, span }: { rows: EndpointGroup[]; span: Span }) {
  const verdicts = useVerdicts<EndpointGroup>("endpoint", rows.map(nameOf), "");
  const columns = endpointColumns(span).map((column) => ({ ...column, sort: undefined }));
  return (
    <DataTable
      label="Worst endpoints"
      columns={withVerdicts("endpoint", columns, verdicts, nameOf)}
      rows={rows}
      rowKey={nameOf}
    />
  );
}
