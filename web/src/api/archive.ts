// Archives and unarchives issues. Updates are optimistic and rolled back on an error.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { plural } from "../model/format";
import { showToast } from "../ui/Toasts";
import { request } from "./client";
import { useProjectId } from "./hooks";
import type { IssueGroup, Page } from "./types";

export function useArchive() {
  const projectId = useProjectId();
  const client = useQueryClient();
  const list = { queryKey: [projectId, "/api/exception-stack-traces"] };
  const change = useMutation({
    mutationFn: ({ hashes, archive }: { hashes: string[]; archive: boolean }) =>
      request("POST", `/api/exception-stack-traces/${archive ? "archive" : "unarchive"}`, {
        query: { projectId },
        body: { hashes },
      }),
    onMutate: async ({ hashes, archive }) => {
      await client.cancelQueries(list);
      const before = client.getQueriesData<Page<IssueGroup>>(list);
      client.setQueriesData<Page<IssueGroup>>(
        list,
        (page) =>
          page && {
            ...page,
            data:
              page.data?.map((row) => (hashes.includes(row.exceptionHash) ? { ...row, archived: archive } : row)) ??
              null,
          },
      );
      return before;
    },
    onError: (error, _change, before) => {
      for (const [key, page] of before ?? []) client.setQueryData(key, page);
      showToast(`Not changed: ${error.message}`);
    },
    onSuccess: (_answer, { hashes, archive }) => {
      showToast(
        archive ? `Archived ${plural(hashes.length, "issue")}` : `Brought back ${plural(hashes.length, "issue")}`,
        archive ? { label: "Undo", run: () => change.mutate({ hashes, archive: false }) } : undefined,
      );
    },
    onSettled: () =>
      client.invalidateQueries({
        predicate: (query) =>
          query.queryKey[0] === projectId && String(query.queryKey[1]).startsWith("/api/exception-stack-traces"),
      }),
  });
  return change;
}
