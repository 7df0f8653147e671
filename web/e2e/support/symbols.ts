// Uploads of symbols, and the way to the issues that they resolve.
import type { Page } from "@playwright/test";
import { at, expect, type Shop } from "./fixtures.ts";

export async function call(shop: Shop, method: string, path: string, body?: unknown): Promise<Response> {
  return fetch(`${shop.url}${path}?projectId=${shop.project}`, {
    method,
    headers: { authorization: `Bearer ${shop.session}`, "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
}

async function uploadToken(shop: Shop): Promise<string> {
  const currentToken = async () => {
    const all = (await (await call(shop, "GET", "/api/projects")).json()) as { id: string; sourceMapToken: string }[];
    return all.find((one) => one.id === shop.project)?.sourceMapToken;
  };
  const token = await currentToken();
  if (token) return token;
  await call(shop, "POST", "/api/projects/source-map-token", {});
  return (await currentToken()) ?? "";
}

/** Uploads a source map like a build does. Returns when the server can resolve `stack` with it. */
export async function uploadMap(
  shop: Shop,
  name: string,
  map: string,
  stack: string,
  more: Blob[] = [],
): Promise<void> {
  const form = new FormData();
  form.append("version", "1.42.0");
  form.append("files", new Blob([map]), name);
  for (const script of more) form.append("files", script, name.replace(/\.map$/, ""));
  const answer = await fetch(`${shop.url}/api/sourcemaps/upload`, {
    method: "POST",
    headers: { authorization: `Bearer ${await uploadToken(shop)}` },
    body: form,
  });
  expect(await answer.json()).toEqual({ uploaded: 1 + more.length });
  // The artifact is built in the background.
  await expect
    .poll(async () => {
      const tried = await call(shop, "POST", "/api/symbols/resolve", { stackTrace: stack });
      return ((await tried.json()) as { resolved: number }).resolved;
    })
    .toBe(1);
}

export const openIssue = async (page: Page, shop: Shop, name: string) => {
  await page.goto(at(shop, "/issues"));
  await page.getByRole("link", { name, exact: true }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(name);
};
