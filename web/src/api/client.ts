// One door to the server: JSON in, JSON out, errors as ApiError with the server's own sentence.
import { retryAfterSeconds } from "../model/retry";
import { noteAnswer } from "./incomplete";
import { endSession } from "./session";

export class ApiError extends Error {
  constructor(
    /** HTTP status; 0 when no answer came. */
    readonly status: number,
    message: string,
    /** Seconds to wait, from Retry-After. */
    readonly retryAfter: number | null = null,
    /** When the answer came, milliseconds since the epoch: countdowns start here. */
    readonly at: number = Date.now(),
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
  /** The body holds a password or code: a 401 says that it is wrong, not that the session is over. */
  challenge?: boolean;
  /** The secret of a mailed link, sent in a header. */
  linkToken?: string;
}

/** A 429 without Retry-After: the server's windows are a minute long. */
const WAIT_SECONDS = 60;

let onExpired: () => void = () => {};
/** Called once a 401 says that the session is over. */
export function whenSessionExpires(run: () => void): void {
  onExpired = run;
}

let onStepUp: () => Promise<boolean> = async () => false;
/** Called when the server wants to know again who is there; true: they have proved it, and the call is made again. */
export function whenStepUpIsNeeded(run: () => Promise<boolean>): void {
  onStepUp = run;
}

export async function request<T>(method: "GET" | "POST" | "PUT" | "DELETE", path: string, call: Call = {}): Promise<T> {
  const answer = await ask(method, path, call);
  return (await answer.json()) as T;
}

/** A file, with the name the server gives it. */
export async function download(path: string, query: Call["query"], fallback: string): Promise<void> {
  const answer = await ask("GET", path, { query });
  const url = URL.createObjectURL(await answer.blob());
  const named = /filename="?([\w.-]+)"?/.exec(answer.headers.get("content-disposition") ?? "");
  saveAs(url, named?.[1] ?? fallback);
}

/** Hands an object URL to the browser's downloads. */
export function saveAs(url: string, name: string): void {
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

async function ask(method: string, path: string, call: Call, isAgain = false): Promise<Response> {
  const headers: Record<string, string> = {};
  if (call.linkToken) headers["link-token"] = call.linkToken;
  if (call.body !== undefined) headers["content-type"] = "application/json";
  const answer = await send(path + queryText(call.query), {
    method,
    headers,
    body: call.body === undefined ? undefined : JSON.stringify(call.body),
    signal: call.signal,
  });
  if (answer.ok) {
    noteAnswer(path, answer.headers);
    return answer;
  }
  if (answer.status === 401 && !call.anonymous && !call.challenge) {
    endSession();
    onExpired();
  }
  const wait = retryAfterSeconds(answer.headers.get("retry-after"), Date.now());
  const problem = await said(answer);
  if (problem.code === "step_up_required" && !isAgain) {
    if (await onStepUp()) return ask(method, path, call, true);
    throw new ApiError(answer.status, "You did not confirm that it is you. Nothing was changed.");
  }
  throw new ApiError(answer.status, problem.sentence, wait ?? (answer.status === 429 ? WAIT_SECONDS : null));
}

async function send(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, "The server did not answer. Is it running, and is the network up?");
  }
}

async function said(answer: Response): Promise<{ sentence: string; code?: string }> {
  try {
    const body = await answer.json();
    if (typeof body?.error === "string") return { sentence: body.error, code: body.code };
  } catch {}
  return { sentence: `The server answered ${answer.status}${answer.statusText ? ` (${answer.statusText})` : ""}.` };
}

function queryText(query: Call["query"]): string {
  const out = new URLSearchParams();
  for (const [key, value] of Object.entries(query ?? {})) if (value) out.set(key, value);
  const text = out.toString();
  return text ? `?${text}` : "";
}
