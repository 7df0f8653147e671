import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Download } from "lucide-react";
import { auditQuery, exportAudit, membersQuery } from "../../api/account-organization";
import type { Organization } from "../../api/account-types";
import { AuditTable } from "../../parts/AuditTable";
import { MutationButton, Problem } from "../../parts/MutationButton";
import { Empty, QueryView } from "../../parts/states";
import { SearchBox } from "../../ui/SearchBox";
import { SearchLink } from "../../ui/SearchLink";
import { Select } from "../../ui/Select";

const route = getRouteApi("/signed-in/plain/organization");

/** The organization's audit log. The URL holds filter and position. */
export function Audit({ organization }: { organization: Organization }) {
  const { action, by, before } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useQuery(auditQuery(organization.id, { action, userId: by ? String(by) : undefined, before }));
  const members = useQuery(membersQuery(organization.id)).data ?? [];
  const people = [
    { value: "", label: "Everyone" },
    ...members.map((one) => ({ value: String(one.userId), label: one.name || one.email })),
  ];
  if (by && !members.some((one) => one.userId === by)) people.push({ value: String(by), label: `User ${by}` });
  const filtered = !!(action || by || before);
  return (
    <>
      <div className="flex flex-wrap items-center gap-2">
        <SearchBox
          value={action ?? ""}
          label="Filter by action"
          placeholder="Action, such as member.removed"
          onSearch={(text) =>
            navigate({ search: (old) => ({ ...old, action: text || undefined, before: undefined }), replace: true })
          }
        />
        <Select
          label="By whom"
          show
          value={by ? String(by) : ""}
          options={people}
          onChange={(id) =>
            navigate({ search: (old) => ({ ...old, by: id ? Number(id) : undefined, before: undefined }) })
          }
        />
        <span className="flex-1" />
        <Export organization={organization} />
      </div>
      <QueryView query={list}>
        {(page) =>
          page.data.length ? (
            <AuditTable
              label="Audit log"
              rows={page.data}
              newest={
                before && (
                  <SearchLink change={{ before: undefined }} className="btn">
                    Newest
                  </SearchLink>
                )
              }
              older={
                page.next && (
                  <SearchLink change={{ before: String(page.next) }} className="btn">
                    Older
                  </SearchLink>
                )
              }
            />
          ) : (
            <div className="panel">
              <Empty
                title={filtered ? "Nothing matches" : "Nothing has happened yet"}
                action={
                  filtered && (
                    <SearchLink change={{ action: undefined, by: undefined, before: undefined }} className="btn">
                      Clear the filter
                    </SearchLink>
                  )
                }
              >
                Every change of members, roles, tokens and settings is written down here, and every sign-in of a member.
              </Empty>
            </div>
          )
        }
      </QueryView>
    </>
  );
}

function Export({ organization }: { organization: Organization }) {
  const save = useMutation({ mutationFn: (format: "csv" | "jsonl") => exportAudit(organization.id, format) });
  return (
    <>
      <MutationButton of={save} onClick={() => save.mutate("csv")}>
        <Download size={14} aria-hidden className="text-ink2" /> CSV
      </MutationButton>
      <MutationButton of={save} onClick={() => save.mutate("jsonl")}>
        <Download size={14} aria-hidden className="text-ink2" /> JSON lines
      </MutationButton>
      {save.error && (
        <div className="w-full">
          <Problem of={save} />
        </div>
      )}
    </>
  );
}
