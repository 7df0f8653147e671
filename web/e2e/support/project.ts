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
