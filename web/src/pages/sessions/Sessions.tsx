import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { filtersText, parseFilters } from "../../model/search";
import { DataTable } from "../../parts/DataTable";
import { FilterInput } from "../../parts/FilterInput";
import { useListBody, usePatchSearch } from "../../parts/listSearch";
import { NoData } from "../../parts/NoData";
import { PageHead, Toolbar } from "../../parts/Page";
import { Pager } from "../../parts/Pager";
import { QueryBar } from "../../parts/QueryBar";
import { QueryView } from "../../parts/states";
import { Segmented } from "../../ui/Segmented";
import { Select } from "../../ui/Select";
import { COLUMNS } from "./columns";
import { sessionsQuestion, useSessions } from "./useSessions";

const route = getRouteApi("/p/$pid/sessions");

const BROWSERS = ["Chrome", "Edge", "Firefox", "Safari", "Opera", "Samsung Internet"];
/** Seconds: value of the choice -> least and most. */
const LENGTHS: { value: string; label: string; min?: number; max?: number }[] = [
  { value: "", label: "Any duration" },
  { value: "-60", label: "Below a minute", max: 60 },
  { value: "60-", label: "A minute and more", min: 60 },
  { value: "300-", label: "5 minutes and more", min: 300 },
  { value: "1800-", label: "Half an hour and more", min: 1800 },
];

export function SessionsPage() {
  const search = route.useSearch();
  const patch = usePatchSearch();
  const attributes = parseFilters(search.attr);
  const { sort, body } = useListBody(search, COLUMNS, { by: "started_at", desc: true });
  const question = sessionsQuestion(search, body);
  const query = useSessions(question);
  const length = LENGTHS.find((one) => one.min === search.min && one.max === search.max);
  const isFiltered = !!(
    search.q ||
    search.user ||
    search.path ||
    search.browser ||
    search.min ||
    search.max ||
    search.errors ||
    attributes.length
  );
  return (
    <>
      <PageHead title="Sessions" sub="What people did in your pages and apps, recorded. A row opens its replay." />
      <Toolbar>
        <QueryBar
          rows="session"
          label="Search sessions"
          placeholder="Words, a session id, or user:ann duration>1m errors>0 plan:pro"
          value={search.q ?? ""}
          error={query.error}
          onSearch={(q) => patch({ q: q || undefined })}
        />
        <TextFilter label="User" value={search.user} onChange={(user) => patch({ user })} />
        <TextFilter label="Page" value={search.path} onChange={(path) => patch({ path })} />
        <Select
          label="Browser"
          value={search.browser ?? ""}
          options={[
            { value: "", label: "Any browser" },
            ...[...new Set([...BROWSERS, ...(search.browser ? [search.browser] : [])])].map((name) => ({
              value: name,
              label: name,
            })),
          ]}
          onChange={(browser) => patch({ browser: browser || undefined })}
        />
        <Select
          label="Duration"
          value={length?.value ?? "own"}
          options={[
            ...LENGTHS,
            ...(length ? [] : [{ value: "own", label: `${search.min ?? 0}–${search.max ?? "∞"} s` }]),
          ]}
          onChange={(value) => {
            const chosen = LENGTHS.find((one) => one.value === value);
            patch({ min: chosen?.min, max: chosen?.max });
          }}
        />
        <Segmented
          label="Which sessions"
          value={search.errors ? "errors" : "all"}
          options={[
            { value: "all", label: "All" },
            { value: "errors", label: "With errors" },
          ]}
          onChange={(value) => patch({ errors: value === "errors" || undefined })}
        />
        <FilterInput filters={attributes} onChange={(next) => patch({ attr: filtersText(next) })} />
      </Toolbar>
      <div className="panel mx-4 mb-6 overflow-x-auto">
        <QueryView query={query}>
          {(page) =>
            page.data.length ? (
              <>
                <DataTable label="Sessions" columns={COLUMNS} rows={page.data} rowKey={(row) => row.id} sort={sort} />
                <Pager pagination={page.pagination} noun="sessions" question={question} />
              </>
            ) : (
              <NoData
                what="sessions"
                about="A page or app with the Traceway SDK sends its sessions here: with recordAllSessions every one, otherwise the seconds before an error."
                filtered={isFiltered}
                onClear={() =>
                  patch({
                    q: undefined,
                    user: undefined,
                    path: undefined,
                    browser: undefined,
                    min: undefined,
                    max: undefined,
                    errors: undefined,
                    attr: undefined,
                  })
                }
              />
            )
          }
        </QueryView>
      </div>
    </>
  );
}

/** Applied on Enter and when the field is left. */
function TextFilter({
  label,
  value = "",
  onChange,
}: {
  label: string;
  value?: string;
  onChange: (value: string | undefined) => void;
}) {
  const [text, setText] = useState(value);
  const [known, setKnown] = useState(value);
  if (known !== value) {
    setKnown(value);
    setText(value);
  }
  const done = () => text.trim() !== value && onChange(text.trim() || undefined);
  return (
    <input
      className="input w-28!"
      aria-label={label}
      placeholder={label}
      value={text}
      onChange={(event) => setText(event.target.value)}
      onBlur={done}
      onKeyDown={(event) => event.key === "Enter" && done()}
    />
  );
}
