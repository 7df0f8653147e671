// The status pages of the organization: list, editor with a preview, logo, maintenance.
import { getRouteApi } from "@tanstack/react-router";
import { ExternalLink, Plus } from "lucide-react";
import { useState } from "react";
import { useBundle, useProject } from "../../api/account";
import { useDeleteStatusPage, useStatusPages } from "../../api/status-pages";
import { count, NONE } from "../../model/format";
import { asRole, mayManage } from "../../model/roles";
import { showToast } from "../../model/toasts";
import type { StatusCheckChoice, StatusPage } from "../../model/types";
import { Confirm } from "../../parts/Confirm";
import { type Column, DataTable } from "../../parts/DataTable";
import { usePatchSearch } from "../../parts/listSearch";
import { MutationButton } from "../../parts/MutationButton";
import { PageHead } from "../../parts/Page";
import { Empty, QueryView } from "../../parts/states";
import { Chip } from "../../ui/Chip";
import { SearchLink } from "../../ui/SearchLink";
import { Editor } from "./Editor";

const route = getRouteApi("/p/$pid/status-pages");

/** Whether the user may change what belongs to the organization of the page's project. */
function useMayManage(): boolean {
  const organization = useProject()?.organizationId;
  const role = useBundle()?.organizations.find((one) => one.id === organization)?.role;
  return mayManage(asRole(role));
}

export function StatusPagesPage() {
  const { edit, add } = route.useSearch();
  const query = useStatusPages();
  const patch = usePatchSearch();
  const manages = useMayManage();
  const close = () => patch({ edit: undefined, add: undefined });
  return (
    <>
      <PageHead
        title="Status pages"
        sub="What your users see of your monitors and incidents, without an account."
        actions={
          manages &&
          !add &&
          !edit && (
            <SearchLink change={{ add: true }} className="btn btn-primary">
              <Plus size={14} aria-hidden /> New status page
            </SearchLink>
          )
        }
      />
      <QueryView query={query}>
        {({ statusPages, checks }) => {
          const edited = statusPages.find((page) => page.id === edit);
          if (manages && (add || edited))
            return <Editor key={edited?.id ?? "new"} page={edited} checks={checks} close={close} />;
          return <List pages={statusPages} checks={checks} manages={manages} />;
        }}
      </QueryView>
    </>
  );
}

function List({ pages, checks, manages }: { pages: StatusPage[]; checks: StatusCheckChoice[]; manages: boolean }) {
  const [deleting, setDeleting] = useState<StatusPage | null>(null);
  const remove = useDeleteStatusPage();
  const columns: Column<StatusPage>[] = [
    {
      key: "name",
      head: "Status page",
      card: "main",
      cell: (row) => (
        <span className="[overflow-wrap:anywhere]">
          {manages ? (
            <SearchLink change={{ edit: row.id }} className="link font-medium">
              {row.name}
            </SearchLink>
          ) : (
            <span className="font-medium">{row.name}</span>
          )}
          {row.customDomain && <span className="block text-dense text-ink2">{row.customDomain}</span>}
        </span>
      ),
    },
    {
      key: "address",
      head: "Address",
      width: "30%",
      card: "half",
      cell: (row) =>
        row.isPublic ? (
          <a
            href={`/status/${row.slug}`}
            target="_blank"
            rel="noreferrer"
            className="link inline-flex items-center gap-1 [overflow-wrap:anywhere]"
          >
            /status/{row.slug} <ExternalLink size={12} aria-label="opens in a new tab" />
          </a>
        ) : (
          <Chip tip="Visitors get 404">private</Chip>
        ),
    },
    { key: "monitors", head: "Monitors", num: true, width: "100px", cell: (row) => count(row.checkIds.length) },
    {
      key: "subscribers",
      head: "Subscribers",
      num: true,
      width: "110px",
      cell: (row) => (row.subscribers ? count(row.subscribers) : NONE),
    },
    {
      key: "end",
      head: "",
      num: true,
      width: "100px",
      cell: (row) =>
        manages && (
          <MutationButton of={remove} onClick={() => setDeleting(row)} aria-label={`Delete ${row.name}`}>
            Delete
          </MutationButton>
        ),
    },
  ];
  return (
    <div className="panel mx-4 mb-6 overflow-x-auto">
      {pages.length ? (
        <DataTable label="Status pages" columns={columns} rows={pages} rowKey={(row) => String(row.id)} />
      ) : (
        <Empty title="No status page yet">
          {checks.length
            ? "It shows the last 90 days of the monitors that you choose, incidents and maintenance."
            : "A status page shows monitors: create a monitor first."}
        </Empty>
      )}
      {deleting && (
        <Confirm
          open
          onOpenChange={(open) => !open && setDeleting(null)}
          title={`Delete ${deleting.name}?`}
          label="Delete the status page"
          typed={deleting.slug}
          of={remove}
          onConfirm={() =>
            remove.mutate(deleting.id, {
              onSuccess: () => {
                setDeleting(null);
                showToast(`Deleted ${deleting.name}`);
              },
            })
          }
        >
          <p>Its address answers 404 at once. Its subscribers and its logo are deleted.</p>
        </Confirm>
      )}
    </div>
  );
}
