// The profiles of one service: a type, filters, its values over time, and the flame graph or the functions.
import { getRouteApi } from "@tanstack/react-router";
import { Download, X } from "lucide-react";
import { useState } from "react";
import { download } from "../../api/client";
import { useGlobalFilter, withFilter } from "../../api/global-filter";
import { usePost, useProjectId } from "../../api/hooks";
import { useRange } from "../../api/range";
import { baselineOf, firstType, profileTitle } from "../../model/profiles";
import { filtersText, parseFilters } from "../../model/search";
import { PROFILE_VIEWS } from "../../model/telemetry-search";
import { showToast } from "../../model/toasts";
import type { ProfileSelection, ProfileType } from "../../model/types";
import { usePatchSearch } from "../../parts/listSearch";
import { NoData } from "../../parts/NoData";
import { PageHead, Toolbar } from "../../parts/Page";
import { QueryView } from "../../parts/states";
import { SearchBox } from "../../ui/SearchBox";
import { Segmented } from "../../ui/Segmented";
import { Select } from "../../ui/Select";
import { Flame } from "./Flame";
import { Functions } from "./Functions";
import { Series } from "./Series";

const route = getRouteApi("/p/$pid/profiles/$service");

export function ProfilePage() {
  const { service } = route.useParams();
  const { body } = useRange();
  const types = usePost("/api/profiles/types", { ...body, serviceName: service });
  return (
    <QueryView query={types}>
      {(answer) =>
        answer.types.length ? (
          <Selected key={service} service={service} types={answer.types} />
        ) : (
          <>
            <PageHead title={service} sub="Profiles" />
            <div className="panel mx-4">
              <NoData what="profiles" about={`${service} sent no profiles.`} />
            </div>
          </>
        )
      }
    </QueryView>
  );
}

function Selected({ service, types }: { service: string; types: ProfileType[] }) {
  const search = route.useSearch();
  const patch = usePatchSearch();
  const { body, span } = useRange();
  const type = types.find((one) => one.type === search.type) ?? firstType(types);
  const filters = parseFilters(search.label);
  const selection: ProfileSelection = {
    ...body,
    serviceName: service,
    type: type?.type ?? "",
    labels: Object.fromEntries(filters.map((one) => [one.key, one.value])),
    appVersion: search.version ?? null,
    serverName: search.server ?? null,
    traceId: search.trace ?? null,
    spanId: search.span ?? null,
    isGauge: null,
    unit: null,
  };
  const dimensions = usePost("/api/profiles/dimensions", selection);
  const labels = usePost("/api/profiles/labels", selection);
  const versions = dimensions.data?.appVersions ?? [];
  const servers = dimensions.data?.serverNames ?? [];
  const view = search.view ?? "flame";
  const option = (value: string) => ({ value, label: value || "(none)" });
  if (!type) return null;
  return (
    <>
      <PageHead
        title={service}
        sub={
          <>
            <span>Profiles</span>
            <Select
              label="Type of profile"
              value={type.type}
              options={types.map((one) => ({ value: one.type, label: profileTitle(one) }))}
              onChange={(next) => patch({ type: next, sort: undefined })}
            />
          </>
        }
        actions={<DownloadButton selection={selection} />}
      />
      <Toolbar>
        {(versions.length > 1 || search.version) && (
          <Select
            label="Version"
            value={search.version ?? ""}
            options={[{ value: "", label: "All versions" }, ...versions.filter(Boolean).map(option)]}
            onChange={(version) => patch({ version: version || undefined })}
          />
        )}
        {(servers.length > 1 || search.server) && (
          <Select
            label="Server"
            value={search.server ?? ""}
            options={[{ value: "", label: "All servers" }, ...servers.filter(Boolean).map(option)]}
            onChange={(server) => patch({ server: server || undefined })}
          />
        )}
        {labels.data?.labels.map(({ key, values }) => (
          <Select
            key={key}
            label={key}
            value={filters.find((one) => one.key === key)?.value ?? ""}
            options={[{ value: "", label: `Any ${key}` }, ...values.filter(Boolean).map(option)]}
            onChange={(value) =>
              patch({
                label: filtersText([...filters.filter((one) => one.key !== key), ...(value ? [{ key, value }] : [])]),
              })
            }
          />
        ))}
        {(search.trace || search.span) && (
          <button
            type="button"
            className="btn"
            onClick={() => patch({ trace: undefined, span: undefined })}
            aria-label="Show the samples of all spans"
          >
            Only this {search.span ? "span" : "trace"} <X size={14} aria-hidden />
          </button>
        )}
      </Toolbar>
      <div className="space-y-4 px-4 pb-6">
        <Series
          selection={selection}
          by={search.by}
          dimensions={[
            ...(versions.length > 1 ? ["appVersion"] : []),
            ...(servers.length > 1 ? ["serverName"] : []),
            ...(labels.data?.labels ?? []).map(({ key }) => `label:${key}`),
          ]}
        />
        <section aria-label="Functions" className="panel">
          <div className="flex flex-wrap items-center gap-2 border-line border-b px-3 py-2">
            <Segmented
              label="View"
              value={view}
              options={[
                { value: "flame", label: "Flame graph" },
                { value: PROFILE_VIEWS[0], label: "Functions" },
                { value: PROFILE_VIEWS[1], label: "Packages" },
              ]}
              onChange={(next) => patch({ view: next === "flame" ? undefined : next, sort: undefined })}
            />
            <SearchBox
              label="Search functions"
              placeholder="Search functions"
              value={search.q ?? ""}
              onSearch={(q) => patch({ q: q || undefined }, true)}
            />
            {view === "flame" && (
              <Select
                label="Compare with"
                show
                value={search.baseline ?? ""}
                options={[
                  { value: "", label: "nothing" },
                  { value: "previous", label: "the period before" },
                  ...versions.filter(Boolean).map((one) => ({ value: `v:${one}`, label: `version ${one}` })),
                ]}
                onChange={(baseline) => patch({ baseline: baseline || undefined, order: undefined })}
              />
            )}
          </div>
          {view === "flame" ? (
            <Flame selection={selection} baseline={baselineOf(search.baseline, span)} search={search} />
          ) : (
            <Functions selection={selection} by={view} q={search.q} sort={search.sort} />
          )}
        </section>
      </div>
    </>
  );
}

const PPROF = "/api/profiles/pprof";

function DownloadButton({ selection }: { selection: ProfileSelection }) {
  const projectId = useProjectId();
  const filter = useGlobalFilter();
  const [busy, setBusy] = useState(false);
  return (
    <button
      type="button"
      className="btn"
      disabled={busy}
      onClick={async () => {
        setBusy(true);
        try {
          await download(PPROF, withFilter(filter, PPROF, { projectId }), "profile.pprof", selection);
        } catch (error) {
          showToast(error instanceof Error ? error.message : String(error));
        }
        setBusy(false);
      }}
    >
      <Download size={14} aria-hidden /> Download pprof
    </button>
  );
}
