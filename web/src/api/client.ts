// HTTP client of the API: JSON requests and responses; errors are ApiError with the server's message.
import { retryAfterSeconds } from "../model/retry";
import { recordResponse } from "./incomplete";
import { endSession } from "./session";

export class ApiError extends Error {
  constructor(
    /** HTTP status; 0 if there was no response. */
    readonly status: number,
    message: string,
    /** Seconds until a retry is allowed, from Retry-After. */
    readonly retryAfter: number | null = null,
    /** Time of the response in milliseconds since the epoch. Countdowns start here. */
    readonly at: number = Date.now(),
    /** Of a query that is wrong: where, in bytes of UTF-8. */
    readonly position: number | null = null,
  ) {
    super(message);
  }
}

interface Call {
  /** A list is a parameter for each of its values. */
  query?: Record<string, string | string[] | undefined>;
  /** A file is sent as it is, everything else as JSON. */
  body?: unknown;
  signal?: AbortSignal;
  /** Set for sign-in calls: a 401 does not mean that the session expired. */
  anonymous?: boolean;
  /** The body holds a password or code: a 401 means that it is wrong, not that the session expired. */
  challenge?: boolean;
  /** Media type of the response, if not JSON. */
  accept?: string;
  /** Secret of a mailed link, sent in the header `link-token`. */
  linkToken?: string;
}

/** Wait after a 429 without Retry-After: the server's rate limit windows are one minute long. */
const WAIT_SECONDS = 60;

let onExpired: () => void = () => {};
/** Sets the function that is called when a 401 shows that the session expired. */
export function whenSessionExpires(run: () => void): void {
  onExpired = run;
}

let onStepUp: () => Promise<boolean> = async () => false;
/** Sets the function that is called when the server requires step-up. If it returns true, the request is repeated. */
export function whenStepUpIsNeeded(run: () => Promise<boolean>): void {
  onStepUp = run;
}

export async function request<T>(method: "GET" | "POST" | "PUT" | "DELETE", path: string, call: Call = {}): Promise<T> {
  const answer = await send(method, path, call);
  return (await answer.json()) as T;
}

/** A response's body as bytes, for documents that are handed on unread. */
export async function requestBytes(path: string, query: Call["query"], signal?: AbortSignal): Promise<ArrayBuffer> {
  const answer = await send("GET", path, { query, signal });
  return answer.arrayBuffer();
}

/** A response of server-sent events. */
export function openStream(path: string, query: Call["query"], signal: AbortSignal): Promise<Response> {
  return send("GET", path, { query, signal, accept: "text/event-stream" });
}

/** Downloads a file, with POST if there is a body. Its name comes from Content-Disposition, otherwise it is `fallback`. */
export async function download(path: string, query: Call["query"], fallback: string, body?: unknown): Promise<void> {
  const answer = await send(body === undefined ? "GET" : "POST", path, { query, body });
  const url = URL.createObjectURL(await answer.blob());
  const named = /filename="?([\w.-]+)"?/.exec(answer.headers.get("content-disposition") ?? "");
  saveAs(url, named?.[1] ?? fallback);
}

/** Downloads an object URL as a file. */
export function saveAs(url: string, name: string): void {
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

async function send(method: string, path: string, call: Call, isRetry = false): Promise<Response> {
  const headers: Record<string, string> = {};
  if (call.accept) headers.accept = call.accept;
  if (call.linkToken) headers["link-token"] = call.linkToken;
  const isFile = call.body instanceof Blob;
  if (call.body !== undefined) headers["content-type"] = isFile ? "application/octet-stream" : "application/json";
  const answer = await fetchResponse(path + queryText(call.query), {
    method,
    headers,
    body: call.body === undefined ? undefined : isFile ? (call.body as Blob) : JSON.stringify(call.body),
    signal: call.signal,
  });
  if (answer.ok) {
    recordResponse(path, answer.headers);
    return answer;
  }
  if (answer.status === 401 && !call.anonymous && !call.challenge) {
    endSession();
    onExpired();
  }
  const wait = retryAfterSeconds(answer.headers.get("retry-after"), Date.now());
  const problem = await parseError(answer);
  if (problem.code === "step_up_required" && !isRetry) {
    if (await onStepUp()) return send(method, path, call, true);
    throw new ApiError(answer.status, "You did not confirm that it is you. Nothing was changed.");
  }
  const retryAfter = wait ?? (answer.status === 429 ? WAIT_SECONDS : null);
  throw new ApiError(answer.status, problem.sentence, retryAfter, Date.now(), problem.position);
}

async function fetchResponse(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, "The server did not answer. Is it running, and is the network up?");
  }
}

async function parseError(answer: Response): Promise<{ sentence: string; code?: string; position: number | null }> {
  try {
    const body = await answer.json();
    if (typeof body?.error === "string")
      return { sentence: body.error, code: body.code, position: body.position ?? null };
  } catch {}
  const status = answer.statusText ? `${answer.status} (${answer.statusText})` : answer.status;
  return { sentence: `The server answered ${status}.`, position: null };
}

/** `?` and the parameters that have a value; empty without any. */
export function queryText(query: Call["query"]): string {
  const out = new URLSearchParams();
  for (const [key, value] of Object.entries(query ?? {}))
    for (const one of Array.isArray(value) ? value : [value]) if (one) out.append(key, one);
  const text = out.toString();
  return text ? `?${text}` : "";
}
