// Demo data of an organization. It is loaded into a separate project and deleted with that project.
import { type QueryClient, queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { asRole, mayManage } from "../model/roles";
import { showToast } from "../model/toasts";
import type { DemoView } from "../model/types";
import { bundleQuery, useBundle } from "./account";
import { deleteProject, useCacheProject } from "./account-project";
import type { ProjectExtra } from "./account-types";
import { request } from "./client";

const POLL_MS = 1000;

function demoQuery(organizationId: number) {
  return queryOptions({
    queryKey: ["demo", organizationId],
    queryFn: ({ signal }) => request<DemoView>("GET", `/api/organizations/${organizationId}/demo`, { signal }),
    refetchInterval: (query) => (query.state.data?.state === "loading" ? POLL_MS : false),
  });
}

export function useDemo(organizationId: number | undefined) {
  return useQuery({ ...demoQuery(organizationId ?? 0), enabled: organizationId !== undefined });
}

/** Id of an organization that the user may load demo data into: `wanted` if given, otherwise the first. */
export function useDemoOrganization(wanted?: number): number | undefined {
  const organizations = useBundle()?.organizations ?? [];
  const managed = organizations.filter((one) => mayManage(asRole(one.role)));
  return (wanted === undefined ? managed[0] : managed.find((one) => one.id === wanted))?.id;
}

/** Loads demo data and opens its project. */
export function useLoadDemo(organizationId: number) {
  const client = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: () => request<DemoView>("POST", `/api/organizations/${organizationId}/demo`, { body: {} }),
    onSuccess: async (demo) => {
      client.setQueryData(demoQuery(organizationId).queryKey, demo);
      await reload(client);
      if (demo.projectId) navigate({ to: "/p/$pid", params: { pid: demo.projectId } });
    },
  });
}

/** Deletes the project of the demo data. */
export function useRemoveDemo(project: ProjectExtra) {
  const client = useQueryClient();
  const keep = useCacheProject();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: () => deleteProject(project.id, project.name),
    onSuccess: () => {
      keep(project.id, null);
      client.removeQueries({ queryKey: ["demo"] });
      navigate({ to: "/" });
      showToast("The demo data is removed");
    },
  });
}

/** Refetches the bundle after a change of its projects. */
function reload(client: QueryClient): Promise<unknown> {
  return client.fetchQuery({ ...bundleQuery, staleTime: 0 });
}
