// Changes of issues: states, assignees, merges, comments. Changes of states are optimistic and rolled back on an error.
import { type QueryClient, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { plural } from "../model/format";
import { type Mute, STATE_WORDS } from "../model/issue-state";
import { showToast } from "../model/toasts";
import type { IssueGroup, IssueState, Page } from "../model/types";
import { useProject } from "./account";
import { membersQuery } from "./account-organization";
import { request } from "./client";
import { fill, useProjectId } from "./hooks";

const ISSUES = "/api/exception-stack-traces";

function refresh(client: QueryClient, projectId: string) {
  return client.invalidateQueries({
    predicate: (query) => query.queryKey[0] === projectId && String(query.queryKey[1]).startsWith(ISSUES),
  });
}

export interface StateChange extends Mute {
  hashes: string[];
  state: IssueState;
}

export function useSetState() {
  const projectId = useProjectId();
  const client = useQueryClient();
  const list = { queryKey: [projectId, ISSUES] };
  const change = useMutation({
    mutationFn: (body: StateChange) => request("POST", `${ISSUES}/state`, { query: { projectId }, body }),
    onMutate: async ({ hashes, state }) => {
      await client.cancelQueries(list);
      const before = client.getQueriesData<Page<IssueGroup>>(list);
      client.setQueriesData<Page<IssueGroup>>(
        list,
        (page) =>
          page && {
            ...page,
            data: page.data.map((row) =>
              hashes.includes(row.exceptionHash) ? { ...row, state, archived: state === "archived" } : row,
            ),
          },
      );
      return before;
    },
    onError: (error, _change, before) => {
      for (const [key, page] of before ?? []) client.setQueryData(key, page);
      showToast(`Not changed: ${error.message}`);
    },
    onSuccess: (_answer, { hashes, state }) => {
      const what = `${plural(hashes.length, "issue")}: ${STATE_WORDS[state]}`;
      const undo = { label: "Undo", run: () => change.mutate({ hashes, state: "open" }) };
      showToast(what[0].toUpperCase() + what.slice(1), state === "open" ? undefined : undo);
    },
    onSettled: () => refresh(client, projectId),
  });
  return change;
}

/** A change that shows its error as a toast and then loads the issues again. */
function useChange<Change>(send: (change: Change, projectId: string) => Promise<unknown>, done?: string) {
  const projectId = useProjectId();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (change: Change) => send(change, projectId),
    onSuccess: () => done && showToast(done),
    onError: (error) => showToast(`Not changed: ${error.message}`),
    onSettled: () => refresh(client, projectId),
  });
}

export function useAssign() {
  return useChange((body: { hashes: string[]; userId: number | null }, projectId) =>
    request("POST", `${ISSUES}/assign`, { query: { projectId }, body }),
  );
}

export function useMerge() {
  return useChange(
    (body: { hashes: string[]; into: string }, projectId) =>
      request("POST", `${ISSUES}/merge`, { query: { projectId }, body }),
    "Merged: the issue has the events of all",
  );
}

export function useUnmerge() {
  return useChange(
    (hashes: string[], projectId) => request("POST", `${ISSUES}/unmerge`, { query: { projectId }, body: { hashes } }),
    "Separated",
  );
}

export function useComment(hash: string) {
  return useChange((comment: string, projectId) =>
    request("POST", fill(`${ISSUES}/{hash}/comments`, { hash }), { query: { projectId }, body: { comment } }),
  );
}

export function useEditComment() {
  return useChange(({ id, comment }: { id: number; comment: string }, projectId) =>
    request("PUT", `${ISSUES}/comments/${id}`, { query: { projectId }, body: { comment } }),
  );
}

export function useDeleteComment() {
  return useChange((id: number, projectId) => request("DELETE", `${ISSUES}/comments/${id}`, { query: { projectId } }));
}

export interface Assignee {
  id: number;
  name: string;
}

/** The users that issues of the project can be assigned to. */
export function useAssignees(): Assignee[] {
  const organization = useProject()?.organizationId;
  const members = useQuery({ ...membersQuery(organization ?? 0), enabled: organization !== undefined }).data ?? [];
  return members.map((member) => ({ id: member.userId, name: member.name || member.email }));
}
