// Projects of a spec of its own: what it sends and sets is not seen by the others, which share `shop` and `desk`.
import { call } from "./call.ts";
import type { Shop } from "./fixtures.ts";

/** A new project without telemetry. */
export async function newProject(shop: Shop, name: string): Promise<Shop> {
  const made = await call<{ id: string; token: string }>(shop, "POST", "/api/projects", {
    name,
    framework: "opentelemetry",
  });
  return { ...shop, project: made.id, token: made.token };
}

/** Data that the tests of a file share: made by the first test of this worker that needs it. Unlike a fixture of the worker,
 * it does not need a worker and a server of its own. */
export function shared<T>(make: (shop: Shop) => Promise<T>): (shop: Shop) => Promise<T> {
  const made = new Map<string, Promise<T>>();
  return (shop) => {
    const found = made.get(shop.url) ?? make(shop);
    made.set(shop.url, found);
    return found;
  };
}
