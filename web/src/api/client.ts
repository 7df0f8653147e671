// One door to the server: JSON in, JSON out, errors as ApiError with the server's own sentence.
import { endSession, sessionToken } from "./session";

export class ApiError extends Error {
  constructor(
    /** HTTP status; 0 when no answer came. */
    readonly status: number,
    message: string,
    /** Seconds to wait, from Retry-After. */
    readonly retryAfter: number | null = null,
  ) {
    super(message);
  }
}

interface Call {
  query?: Record<string, string | undefined>;
  body?: unknown;
  signal?: AbortSignal;
  /** Sign-in calls: a 401 is an answer, not an expired session. */
  anonymous?: boolean;
}

let onExpired: () => void = () => {};
/** Called once a 401 says that the session is over. */
export function whenSessionExpires(run: () => void): void {
  onExpired = run;
}

export async function request<T>(method: "GET" | "POST" | "PUT", path: string, call: Call = {}): Promise<T> {
  const headers: Record<string, string> = {};
  const token = sessionToken();
  if (token && !call.anonymous) headers.authorization = `Bearer ${token}`;
  if (call.body !== undefined) headers["content-type"] = "application/json";
  const answer = await send(path + queryText(call.query), {
    method,
    headers,
    body: call.body === undefined ? undefined : JSON.stringify(call.body),
    signal: call.signal,
  });
  if (answer.ok) return (await answer.json()) as T;
  if (answer.status === 401 && !call.anonymous) {
    endSession();
    onExpired();
  }
  const wait = Number(answer.headers.get("retry-after"));
  throw new ApiError(answer.status, await sentence(answer), wait > 0 ? wait : null);
}

async function send(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, "The server did not answer. Is it running, and is the network up?");
  }
}

async function sentence(answer: Response): Promise<string> {
  try {
    const body = await answer.json();
    if (typeof body?.error === "string") return body.error;
  } catch {}
  return `The server answered ${answer.status}${answer.statusText ? ` (${answer.statusText})` : ""}.`;
}

function queryText(query: Call["query"]): string {
  const out = new URLSearchParams();
  for (const [key, value] of Object.entries(query ?? {})) if (value) out.set(key, value);
  const text = out.toString();
  return text ? `?${text}` : "";
}
