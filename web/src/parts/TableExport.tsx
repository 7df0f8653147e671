// Every row of a list as CSV or JSON, and the list's request as a command line.
import { Menu } from "@base-ui/react/menu";
import { Download } from "lucide-react";
import { queryText, request, saveAs } from "../api/client";
import { type Query, useGlobalFilter, withFilter } from "../api/global-filter";
import { fill, useProjectId } from "../api/hooks";
import type { PostRoutes } from "../api/routes";
import { count } from "../model/format";
import { csvOf, curlOf, type ExportedRow } from "../model/table-export";
import { showToast } from "../model/toasts";
import type { Pagination } from "../model/types";
import { copyText } from "../ui/Copy";

/** The request of a list with pages. */
export interface Question {
  route: keyof PostRoutes;
  path?: Record<string, string>;
  query?: Record<string, string>;
  body: object;
}

/** The largest page that lists answer. */
const PAGE_ROWS = 100;
/** Rows of a file; the message about it says when there are more. */
const ROWS_MAX = 10_000;

interface Answer {
  data?: ExportedRow[] | null;
  pagination: Pagination;
}

export function TableExport({ question, noun }: { question: Question; noun: string }) {
  const projectId = useProjectId();
  const path = fill(question.route, question.path);
  const query = withFilter(useGlobalFilter(), question.route, { projectId, ...question.query });

  const copyCommand = async () => {
    const url = `${location.origin}${path}${queryText(query)}`;
    const done = await copyText(curlOf(url, question.body));
    showToast(done ? "Copied. It needs a personal token in TIDEWATCH_TOKEN." : "The browser refused to copy.");
  };

  const save = async (format: "csv" | "json") => {
    try {
      const { rows, total } = await readAll(path, query, question.body);
      const text = format === "csv" ? csvOf(rows) : JSON.stringify(rows, null, 1);
      const type = format === "csv" ? "text/csv" : "application/json";
      saveAs(URL.createObjectURL(new Blob([text], { type })), `${noun.replaceAll(" ", "-")}.${format}`);
      const part = rows.length < total ? `The first ${count(rows.length)} of ${count(total)}` : count(total);
      showToast(`${part} ${noun} downloaded.`);
    } catch (error) {
      showToast(error instanceof Error ? error.message : "The download failed.");
    }
  };

  return (
    <Menu.Root>
      <Menu.Trigger className="btn btn-ghost btn-icon" aria-label="Export the list" title="Export the list">
        <Download size={14} aria-hidden />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner sideOffset={4} align="end" className="z-50">
          <Menu.Popup className="menu appear w-52">
            <Menu.Item className="menu-item" onClick={() => save("csv")}>
              Download CSV
            </Menu.Item>
            <Menu.Item className="menu-item" onClick={() => save("json")}>
              Download JSON
            </Menu.Item>
            <Menu.Item className="menu-item" onClick={copyCommand}>
              Copy as curl
            </Menu.Item>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

async function readAll(path: string, query: Query, body: object) {
  const rows: ExportedRow[] = [];
  for (let page = 1; ; page++) {
    const pagination = { page, pageSize: PAGE_ROWS };
    const answer = await request<Answer>("POST", path, { query, body: { ...body, pagination } });
    rows.push(...(answer.data ?? []));
    const { total, totalPages } = answer.pagination;
    if (page >= totalPages || rows.length >= ROWS_MAX) return { rows, total };
  }
}
