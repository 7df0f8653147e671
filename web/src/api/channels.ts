// Channels of notifications of the project.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { Config } from "../model/config-fields";
import { request } from "./client";
import { useProjectId } from "./hooks";

const CHANNELS = "/api/notification-channels";

export interface Channel {
  id: number;
  name: string;
  channelType: string;
  config: Config;
  state: "unused" | "working" | "failing";
  failingSince?: string | null;
  lastError: string;
  lastSentAt?: string | null;
  /** Notifications that wait to be sent. */
  waiting: number;
  /** Rules that notify it. */
  ruleCount: number;
}

export interface NewChannel {
  name: string;
  channelType: string;
  config: Config;
}

/** Polled: deliveries change the state of a channel. */
export function useChannels() {
  const projectId = useProjectId();
  return useQuery({
    queryKey: [projectId, CHANNELS],
    queryFn: ({ signal }) => request<{ channels: Channel[] }>("GET", CHANNELS, { query: { projectId }, signal }),
    enabled: projectId !== "none" && projectId !== "",
    refetchInterval: 15_000,
  });
}

function useChange<Change, Answer>(send: (change: Change, projectId: string) => Promise<Answer>) {
  const projectId = useProjectId();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (change: Change) => send(change, projectId),
    onSettled: () => client.invalidateQueries({ queryKey: [projectId, CHANNELS] }),
  });
}

/** Creates a channel, or changes the one with the id. */
export function useSaveChannel() {
  return useChange(({ id, ...body }: NewChannel & { id?: number }, projectId) =>
    id === undefined
      ? request<Channel>("POST", CHANNELS, { query: { projectId }, body })
      : request<Channel>("PUT", `${CHANNELS}/${id}`, { query: { projectId }, body }),
  );
}

export function useDeleteChannel() {
  return useChange((id: number, projectId) => request("DELETE", `${CHANNELS}/${id}`, { query: { projectId } }));
}

/** Sends a test message; fails with what failed. */
export function useTestChannel() {
  return useChange((id: number, projectId) =>
    request<{ success: true }>("POST", `${CHANNELS}/${id}/test`, { query: { projectId } }),
  );
}
