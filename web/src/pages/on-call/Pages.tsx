import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { useMayWrite } from "../../api/account";
import { PAGE_STATES, type PageState, usePages, usePolicies } from "../../api/oncall";
import { Section } from "../../parts/Page";
import { Empty, QueryView } from "../../parts/states";
import { SearchLink } from "../../ui/SearchLink";
import { Segmented } from "../../ui/Segmented";
import { NewPage } from "./NewPage";
import { PageDetail } from "./PageDetail";
import { PageTable } from "./PageTable";

const route = getRouteApi("/p/$pid/on-call");

const LABELS: Record<PageState, string> = {
  active: "Not resolved",
  open: "Open",
  acknowledged: "Acknowledged",
  resolved: "Resolved",
  all: "All",
};

/** The pages of the project. */
export function Pages() {
  const { state = "active", at = 1, page } = route.useSearch();
  const navigate = route.useNavigate();
  const query = usePages(state, at);
  const mayWrite = useMayWrite();
  const policies = usePolicies().data?.policies ?? [];
  const [adding, setAdding] = useState(false);
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <Segmented
          label="Status"
          value={state}
          options={PAGE_STATES.map((value) => ({ value, label: LABELS[value] }))}
          onChange={(value) =>
            navigate({ search: (old) => ({ ...old, state: value === "active" ? undefined : value, at: undefined }) })
          }
        />
        {mayWrite && policies.length > 0 && (
          <button type="button" className="btn" onClick={() => setAdding(true)}>
            Page somebody
          </button>
        )}
      </div>
      <Section title="Pages" flush>
        <QueryView query={query}>
          {({ data, pagination }) =>
            data.length ? (
              <>
                <PageTable key={state} pages={data} />
                {pagination.totalPages > 1 && (
                  <nav aria-label="Pages of the list" className="flex gap-2 px-3 py-2">
                    {at > 1 && (
                      <SearchLink change={{ at: at - 1 }} className="btn">
                        Newer
                      </SearchLink>
                    )}
                    {at < pagination.totalPages && (
                      <SearchLink change={{ at: at + 1 }} className="btn">
                        Older
                      </SearchLink>
                    )}
                  </nav>
                )}
              </>
            ) : (
              <Empty title="No pages">
                A rule opens a page when its notification channel is an escalation policy. It stays open until somebody
                acknowledges it.
              </Empty>
            )
          }
        </QueryView>
      </Section>
      {page !== undefined && (
        <PageDetail id={page} close={() => navigate({ search: (old) => ({ ...old, page: undefined }) })} />
      )}
      {adding && (
        <NewPage
          policies={policies}
          close={() => setAdding(false)}
          onOpened={(id) => {
            setAdding(false);
            navigate({ search: (old) => ({ ...old, page: id }) });
          }}
        />
      )}
    </>
  );
}
