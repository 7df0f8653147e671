// Calls of the API with a session, as a page would make them.
import type { Shop } from "./fixtures.ts";

/** Fails for any status but 2xx. */
export async function call<T>(
  shop: Shop,
  method: string,
  path: string,
  body?: unknown,
  session = shop.session,
): Promise<T> {
  const answer = await fetch(shop.url + path, {
    method,
    headers: { authorization: `Bearer ${session}`, "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as T;
}
