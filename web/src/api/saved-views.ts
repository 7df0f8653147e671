// Saved views of the project. Changes show their error as a toast, then load the views again.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { showToast } from "../model/toasts";
import type { SavedView, SavedViewChange, SavedViewRequest } from "../model/types";
import { request } from "./client";
import { useGet, useProjectId } from "./hooks";

const VIEWS = "/api/saved-views";

const EMPTY: SavedView[] = [];

/** Starred views first, then private, then shared ones. */
export function useSavedViews(): SavedView[] {
  const projectId = useProjectId();
  return useGet(VIEWS, { enabled: projectId !== "none" && projectId !== "" }).data?.data ?? EMPTY;
}

function useChange<Change, Answer>(send: (change: Change, projectId: string) => Promise<Answer>, failed: string) {
  const projectId = useProjectId();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (change: Change) => send(change, projectId),
    onError: (error) => showToast(`${failed}: ${error.message}`),
    onSettled: () => client.invalidateQueries({ queryKey: [projectId, VIEWS] }),
  });
}

export function useSaveView() {
  return useChange(
    (body: SavedViewRequest, projectId) => request<{ id: number }>("POST", VIEWS, { query: { projectId }, body }),
    "Not saved",
  );
}

export function useChangeView() {
  return useChange(
    ({ id, ...body }: SavedViewChange & { id: number }, projectId) =>
      request("PUT", `${VIEWS}/${id}`, { query: { projectId }, body }),
    "Not changed",
  );
}

export function useStarView() {
  return useChange(
    ({ id, starred }: { id: number; starred: boolean }, projectId) =>
      request(starred ? "PUT" : "DELETE", `${VIEWS}/${id}/star`, { query: { projectId } }),
    "Not changed",
  );
}

/** Deletes a view; a toast offers to save it again. */
export function useDeleteView() {
  const save = useSaveView();
  const star = useStarView();
  const restore = async ({ name, page, search, shared, starred }: SavedView) => {
    const { id } = await save.mutateAsync({ name, page, search, shared });
    if (starred) star.mutate({ id, starred });
  };
  return useChange(async (view: SavedView, projectId) => {
    await request("DELETE", `${VIEWS}/${view.id}`, { query: { projectId } });
    // Saved again, the view of another user would be one's own.
    const undo = { label: "Undo", run: () => void restore(view).catch(() => {}) };
    showToast(`Deleted the view ${view.name}`, view.own ? undo : undefined);
  }, "Not deleted");
}
