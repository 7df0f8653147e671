import { getRouteApi } from "@tanstack/react-router";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import type { FileOrder } from "../../api/routes";
import { useRemovedSymbols, useRemoveSymbols, useSymbolFiles } from "../../api/symbols";
import { bytes, NONE } from "../../model/format";
import { parseSort, type Sort } from "../../model/search";
import { FILE_KINDS } from "../../model/symbol-kinds";
import { fileId, kindWords, releaseWords, removalWords, toolWords } from "../../model/symbols";
import type { Page, SymbolFile } from "../../model/types";
import { Ago } from "../../parts/Ago";
import { Confirm } from "../../parts/Confirm";
import { type Column, DataTable } from "../../parts/DataTable";
import { ordersOf, PAGE_SIZE, usePatchSearch } from "../../parts/listSearch";
import { Section } from "../../parts/Page";
import { Pager } from "../../parts/Pager";
import { Empty, QueryView } from "../../parts/states";
import { Chip } from "../../ui/Chip";
import { CopyButton } from "../../ui/Copy";
import { SearchBox } from "../../ui/SearchBox";
import { SearchLink } from "../../ui/SearchLink";
import { Select } from "../../ui/Select";

const route = getRouteApi("/p/$pid/settings/symbols");

export function Files({ writes }: { writes: boolean }) {
  const search = route.useSearch();
  const sort = parseSort<FileOrder>(search.sort, ordersOf(COLUMNS), { by: "uploaded", desc: true });
  const files = useSymbolFiles({
    page: search.page ?? 1,
    pageSize: PAGE_SIZE,
    search: search.q || undefined,
    kind: search.kind,
    orderBy: sort.by,
    sortDirection: sort.desc ? "desc" : "asc",
  });
  const isFiltered = !!search.q || !!search.kind;
  return (
    <Section title="Uploaded files" flush>
      <QueryView query={files}>
        {(found) =>
          found.pagination.total || isFiltered ? (
            <List found={found} sort={sort} writes={writes} />
          ) : (
            <Empty title="Nothing is uploaded yet">
              Have the build upload its debug files or source maps, with the command below. Each is found by its debug
              id or file name.
            </Empty>
          )
        }
      </QueryView>
      <Removed />
    </Section>
  );
}

/** Files of old releases that the server deleted. */
function Removed() {
  const removed = useRemovedSymbols().data;
  if (!removed?.length) return null;
  return (
    <ul aria-label="Deleted files of old releases" className="border-line border-t px-3 py-2 text-dense text-ink2">
      {removed.map((one) => (
        <li key={one.reason}>
          {removalWords(one)} ({bytes(one.bytes)}, last <Ago at={one.lastRemoved} />)
        </li>
      ))}
    </ul>
  );
}

interface ListProps {
  found: Page<SymbolFile>;
  sort: Sort<FileOrder>;
  writes: boolean;
}

function List({ found, sort, writes }: ListProps) {
  const search = route.useSearch();
  const patch = usePatchSearch();
  const [removing, setRemoving] = useState<SymbolFile | null>(null);
  return (
    <>
      <div className="flex flex-wrap items-center gap-2 border-line border-b px-3 py-2">
        <SearchBox
          value={search.q ?? ""}
          label="Filter files by name, debug id or version"
          placeholder="Name, debug id or version"
          onSearch={(text) => patch({ q: text || undefined }, true)}
        />
        <Select
          label="Kind"
          show
          value={search.kind ?? ""}
          options={[
            { value: "", label: "Every kind" },
            ...FILE_KINDS.map((kind) => ({ value: kind, label: kindWords(kind) })),
          ]}
          onChange={(kind) => patch({ kind: kind || undefined })}
        />
      </div>
      {found.pagination.total ? (
        <>
          <DataTable
            label="Uploaded symbol files"
            rows={found.data}
            rowKey={(file) => file.key}
            sort={sort}
            columns={writes ? [...COLUMNS, removal(setRemoving)] : COLUMNS}
          />
          <div className="border-line border-t">
            <Pager pagination={found.pagination} noun="files" />
          </div>
        </>
      ) : (
        <Empty
          title="No file matches"
          action={
            <SearchLink change={{ q: undefined, kind: undefined, page: undefined }} className="btn">
              Clear the filter
            </SearchLink>
          }
        />
      )}
      {removing && <Remove file={removing} close={() => setRemoving(null)} />}
    </>
  );
}

const COLUMNS: Column<SymbolFile, FileOrder>[] = [
  {
    key: "name",
    head: "Name",
    sort: "name",
    ascFirst: true,
    card: "main",
    cell: (file) => (
      <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <span className="font-medium [overflow-wrap:anywhere]">{file.name}</span>
        {!file.hasDebugInfo && (
          <Chip
            tone="warn"
            tip="Nothing can be looked up in it. Upload the file that was built with debug information."
          >
            no debug information
          </Chip>
        )}
      </span>
    ),
  },
  { key: "kind", head: "Kind", cell: (file) => <span className="sm:whitespace-nowrap">{kindWords(file.kind)}</span> },
  {
    key: "id",
    head: "Debug id",
    card: "half",
    cell: (file) => {
      const id = fileId(file);
      if (!id) return <span className="text-ink2">by its name</span>;
      return (
        <span className="flex items-center gap-0.5">
          <code className="font-mono text-dense [overflow-wrap:anywhere]">{id}</code>
          <CopyButton text={id} label={`Copy the debug id of ${file.name}`} />
        </span>
      );
    },
  },
  { key: "arch", head: "Arch", cell: (file) => (file.arch && file.arch !== "any" ? file.arch : NONE) },
  { key: "version", head: "Version", cell: (file) => releaseWords(file) || NONE },
  { key: "size", head: "Size", num: true, sort: "size", cell: (file) => bytes(file.bytes) },
  {
    key: "uploaded",
    head: "Uploaded",
    num: true,
    sort: "uploaded",
    cell: (file) => (
      <span className="inline-block text-right">
        <Ago at={file.uploadedAt} />
        {file.uploadedBy && <By by={file.uploadedBy} />}
      </span>
    ),
  },
  {
    key: "used",
    head: "Last used",
    num: true,
    sort: "used",
    cell: (file) => (file.lastUsedAt ? <Ago at={file.lastUsedAt} /> : <span className="text-ink2">never</span>),
  },
];

/** Tool and IP address of the upload. */
function By({ by }: { by: NonNullable<SymbolFile["uploadedBy"]> }) {
  return (
    <span className="block text-dense text-ink2 [overflow-wrap:anywhere]" title={by.userAgent}>
      by {toolWords(by.userAgent)}
      {by.address && ` from ${by.address}`}
    </span>
  );
}

const removal = (remove: (file: SymbolFile) => void): Column<SymbolFile> => ({
  key: "Remove",
  head: "",
  num: true,
  cell: (file) => (
    <button
      type="button"
      className="btn btn-ghost btn-icon"
      aria-label={`Delete ${file.name}, ${kindWords(file.kind).toLowerCase()}`}
      onClick={() => remove(file)}
    >
      <Trash2 size={14} aria-hidden className="text-ink2" />
    </button>
  ),
});

function Remove({ file, close }: { file: SymbolFile; close: () => void }) {
  const remove = useRemoveSymbols();
  return (
    <Confirm
      open
      onOpenChange={(open) => !open && close()}
      title="Delete this file?"
      label="Delete"
      busy="Deleting…"
      of={remove}
      onConfirm={() => remove.mutate(file, { onSuccess: close })}
    >
      <p className="[overflow-wrap:anywhere]">
        <span className="font-medium text-ink">{file.name}</span> ({kindWords(file.kind).toLowerCase()},{" "}
        {bytes(file.bytes)}) will resolve no more stack traces. Those that are resolved stay so; the same file can be
        uploaded again.
      </p>
    </Confirm>
  );
}
