// Whole strings of rows: lists have the beginning of long ones (`truncatedFields`), details have all.
import { useQuery } from "@tanstack/react-query";
import type { IssueGroup, IssueOccurrence, LogAround, LogRow } from "../model/types";
import { request } from "./client";
import { usePost, useProjectId } from "./hooks";

/** A row, and whether some of its strings are only the beginning. */
export interface Whole<Row> {
  row: Row;
  /** `loading`: the whole row is on its way; `failed`: it could not be loaded. */
  state: "whole" | "loading" | "failed";
}

export function isCut(row: { truncatedFields?: string[] } | undefined): boolean {
  return !!row?.truncatedFields?.length;
}

function whole<Row>(row: Row, cut: boolean, query: { data: Row | undefined; isError: boolean }): Whole<Row> {
  if (!cut) return { row, state: "whole" };
  if (query.data !== undefined) return { row: query.data, state: "whole" };
  return { row, state: query.isError ? "failed" : "loading" };
}

export function useWholeOccurrence<Row extends IssueOccurrence | undefined>(row: Row): Whole<Row> {
  const cut = isCut(row);
  const query = usePost(
    "/api/exception-stack-traces/by-id/{id}",
    { recordedAt: row?.recordedAt },
    { path: { id: row?.id ?? "" }, enabled: cut, keep: false },
  );
  return whole(row, cut, { data: query.data?.exception as Row | undefined, isError: query.isError });
}

/** The latest stack trace of an Issue. */
export function useWholeIssue(row: IssueGroup): Whole<IssueGroup> {
  const cut = isCut(row);
  const query = usePost(
    "/api/exception-stack-traces/{hash}",
    { pagination: { page: 1, pageSize: 1 }, withoutTags: true },
    { path: { hash: row.exceptionHash }, enabled: cut, keep: false },
  );
  return whole(row, cut, { data: query.data?.group, isError: query.isError });
}

/** A log record; it may be of another project that the user can open. */
export function useWholeLog(row: LogRow): Whole<LogRow> {
  const cut = isCut(row);
  const current = useProjectId();
  const projectId = row.project.id || current;
  const { id, timestamp, serviceName } = row;
  const body = { id, timestamp, serviceName, count: 1, sameInstance: false };
  const query = useQuery({
    queryKey: [projectId, "/api/logs/around", "one", body],
    queryFn: ({ signal }) =>
      request<LogAround>("POST", "/api/logs/around", { query: { projectId }, body, signal }).then((one) => one.record),
    enabled: cut,
  });
  return whole(row, cut, query);
}
