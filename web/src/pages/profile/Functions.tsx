import { usePost } from "../../api/hooks";
import type { OrderOf } from "../../api/routes";
import { percent, plural } from "../../model/format";
import { profileValue } from "../../model/profiles";
import { parseSort } from "../../model/search";
import type { ProfileSelection, TopFunction } from "../../model/types";
import { type Column, DataTable } from "../../parts/DataTable";
import { Empty, QueryView } from "../../parts/states";
import { SearchLink } from "../../ui/SearchLink";

const LIMIT = 200;

/** Functions or packages by own and total value. */
export function Functions({
  selection,
  by,
  q,
  sort: sortText,
}: {
  selection: ProfileSelection;
  by: "functions" | "packages";
  q?: string;
  sort?: string;
}) {
  const sort = parseSort<OrderOf<"/api/profiles/top">>(sortText, ["self", "total"], { by: "self", desc: true });
  const isPackage = by === "packages";
  const query = usePost("/api/profiles/top", {
    ...selection,
    limit: LIMIT,
    orderBy: sort.by,
    by: isPackage ? "package" : "function",
    search: q ?? "",
  });
  return (
    <QueryView query={query}>
      {(answer) =>
        answer.data.length ? (
          <>
            <DataTable
              label={isPackage ? "Packages" : "Functions"}
              columns={columns(isPackage, answer.unit, answer.total)}
              rows={answer.data}
              rowKey={(row) => `${row.package}\n${row.name}\n${row.file}`}
              sort={{ by: sort.by, desc: true }}
            />
            <p className="border-line border-t px-3 py-2 text-ink2">
              {plural(answer.functions, isPackage ? "package" : "function")}
              {answer.functions > answer.data.length && `, of which the first ${answer.data.length} are listed`}.
            </p>
          </>
        ) : (
          <Empty title={q ? "Nothing matches" : "No samples in this selection"} />
        )
      }
    </QueryView>
  );
}

function columns(isPackage: boolean, unit: string, total: number): Column<TopFunction, OrderOf<"/api/profiles/top">>[] {
  const share = (value: number) => percent(total > 0 ? value / total : 0);
  return [
    {
      key: "name",
      head: isPackage ? "Package" : "Function",
      card: "main",
      cell: (row) =>
        isPackage ? (
          <span className="font-mono text-dense [overflow-wrap:anywhere]">{row.package || "(unknown)"}</span>
        ) : (
          <span className="block min-w-0">
            <SearchLink
              change={{ fn: row.name, view: undefined, sort: undefined }}
              className="row-link font-medium font-mono text-dense [overflow-wrap:anywhere]"
              data-row-link
            >
              {row.name}
            </SearchLink>
            {row.file && <span className="block text-caption text-ink2 [overflow-wrap:anywhere]">{row.file}</span>}
          </span>
        ),
    },
    {
      key: "self",
      head: "Own",
      help: "Without what the function calls.",
      sort: "self",
      num: true,
      width: "110px",
      cell: (row) => profileValue(row.self, unit),
    },
    { key: "self-share", head: "Own share", num: true, width: "92px", cell: (row) => share(row.self) },
    {
      key: "total",
      head: "Total",
      help: "With what the function calls.",
      sort: "total",
      num: true,
      width: "110px",
      cell: (row) => profileValue(row.total, unit),
    },
    { key: "total-share", head: "Total share", num: true, width: "96px", cell: (row) => share(row.total) },
  ];
}
