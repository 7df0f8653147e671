// Sessions of browsers and apps, and the segments of their recordings.

import type { components } from "../model/schema";
import { ApiError, request, requestBytes } from "./client";

type Schemas = components["schemas"];
export type SessionRow = Schemas["SessionRow"];
export type SessionDetail = Schemas["SessionDetail"];
export type SessionError = Schemas["SessionError"];
export type SessionOrder = Schemas["SessionOrder"];

/** `startedAt` may be up to a day away from the session's start; without it, all time is searched. */
export function fetchSession(projectId: string, id: string, startedAt: string | undefined, signal: AbortSignal) {
  const body: Schemas["SessionDetailRequest"] = { startedAt: startedAt ?? null };
  return request<SessionDetail>("POST", `/api/sessions/${encodeURIComponent(id)}`, {
    query: { projectId },
    body,
    signal,
  });
}

export function fetchSegment(projectId: string, id: string, index: number, signal: AbortSignal): Promise<ArrayBuffer> {
  return requestBytes(
    `/api/sessions/${encodeURIComponent(id)}/recording`,
    { projectId, segment: String(index) },
    signal,
  );
}

/** An event of an issue, as far as its recording is concerned. */
export type RecordedEvent = Pick<Schemas["Occurrence"], "id" | "recordedAt" | "hasRecording" | "sessionId">;

/** The documents that show an event: its own recording, and the segments of its session at that time. */
export interface ClipDocuments {
  own: ArrayBuffer | null;
  session: ArrayBuffer[];
}

/**
 * Recordings of the time from `beforeMs` before an event to `afterMs` after it. A recorder of sessions keeps what it has
 * sent in a segment out of the event's own recording, so both are needed.
 */
export async function fetchClip(
  projectId: string,
  event: RecordedEvent,
  { beforeMs, afterMs }: { beforeMs: number; afterMs: number },
  signal: AbortSignal,
): Promise<ClipDocuments> {
  const [own, session] = await Promise.all([
    event.hasRecording ? fetchOwn(projectId, event.id, signal) : null,
    event.sessionId ? fetchAround(projectId, event.sessionId, event.recordedAt, { beforeMs, afterMs }, signal) : [],
  ]);
  return { own, session };
}

function fetchOwn(projectId: string, id: string, signal: AbortSignal): Promise<ArrayBuffer | null> {
  const path = `/api/exception-stack-traces/by-id/${encodeURIComponent(id)}/recording`;
  return unless404(requestBytes(path, { projectId }, signal));
}

async function fetchAround(
  projectId: string,
  session: string,
  recordedAt: string,
  { beforeMs, afterMs }: { beforeMs: number; afterMs: number },
  signal: AbortSignal,
): Promise<ArrayBuffer[]> {
  const detail = await unless404(fetchSession(projectId, session, recordedAt, signal));
  const at = Date.parse(recordedAt);
  const around = (detail?.segments ?? []).filter(
    (one) => Date.parse(one.startedAt) <= at + afterMs && Date.parse(one.endedAt) >= at - beforeMs,
  );
  const documents = await Promise.all(
    around.map((one) => unless404(fetchSegment(projectId, session, one.segmentIndex, signal))),
  );
  return documents.filter((one) => one !== null);
}

async function unless404<T>(answer: Promise<T>): Promise<T | null> {
  return answer.catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  });
}

export function deleteSessionsOf(projectId: string, userId: string): Promise<Schemas["DeletedSessions"]> {
  return request("DELETE", "/api/sessions", { query: { projectId, userId } });
}
