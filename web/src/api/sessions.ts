// Sessions of browsers and apps, and the segments of their recordings.
import { ApiError, request, requestBytes } from "./client";
import type { components } from "./schema";

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

/**
 * The documents that show the time from `beforeMs` before an event to `afterMs` after it: its own clip, otherwise the
 * segments of its session. Empty if there are none.
 */
export async function fetchClip(
  projectId: string,
  event: RecordedEvent,
  { beforeMs, afterMs }: { beforeMs: number; afterMs: number },
  signal: AbortSignal,
): Promise<ArrayBuffer[]> {
  if (event.hasRecording) {
    const path = `/api/exception-stack-traces/by-id/${encodeURIComponent(event.id)}/recording`;
    const own = await unless404(requestBytes(path, { projectId }, signal));
    if (own) return [own];
  }
  if (!event.sessionId) return [];
  const detail = await unless404(fetchSession(projectId, event.sessionId, event.recordedAt, signal));
  const at = Date.parse(event.recordedAt);
  const around = (detail?.segments ?? []).filter(
    (one) => Date.parse(one.startedAt) <= at + afterMs && Date.parse(one.endedAt) >= at - beforeMs,
  );
  const documents = await Promise.all(
    around.map((one) => unless404(fetchSegment(projectId, event.sessionId, one.segmentIndex, signal))),
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
