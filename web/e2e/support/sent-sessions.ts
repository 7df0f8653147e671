// What an SDK has sent to the server, and rows of the API for tests that answer in its place.
import type { SessionRow } from "../../src/api/sessions.ts";
import type { SessionApp } from "./session-app.ts";

interface Recording {
  sessionId?: string;
  exceptionId?: string;
  segmentIndex?: number;
  startedAt: string;
  endedAt: string;
}
interface Session {
  id: string;
  startedAt: string;
  endedAt?: string;
  attributes: Record<string, string>;
}
interface Report {
  collectionFrames: {
    sessions?: Session[];
    sessionRecordings?: Recording[];
    stackTraces?: { sessionId?: string; stackTrace: string; recordedAt: string }[];
  }[];
}

export class Sent {
  constructor(private readonly app: SessionApp) {}

  get reports(): Report[] {
    return this.app.reports.map(({ body }) => JSON.parse(body) as Report);
  }

  private get frames() {
    return this.reports.flatMap((one) => one.collectionFrames);
  }

  get segments(): Recording[] {
    return this.frames.flatMap((one) => one.sessionRecordings ?? []).filter((one) => one.sessionId);
  }

  /** The recording of the first exception. */
  get clip(): Recording | undefined {
    return this.frames.flatMap((one) => one.sessionRecordings ?? []).find((one) => one.exceptionId);
  }

  get errors() {
    return this.frames.flatMap((one) => one.stackTraces ?? []);
  }

  get session(): Session | undefined {
    return this.frames.flatMap((one) => one.sessions ?? []).at(-1);
  }
}

/** A row of the API, with the fields that a test does not name. */
export function sessionRow(given: Partial<SessionRow>): SessionRow {
  return {
    id: "",
    startedAt: "2026-03-01T09:00:00Z",
    endedAt: null,
    duration: 0,
    attributes: {},
    clientIP: "192.0.2.1",
    appVersion: "",
    userId: "",
    browser: "",
    os: "",
    pageCount: 0,
    errorCount: 0,
    hasRecording: true,
    linkedTraceIds: [],
    ...given,
  };
}
