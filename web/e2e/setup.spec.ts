// A coding agent proposes projects and a user approves them: both sides against the real server.
import { serious } from "./support/axe.ts";
import { at, expect, test } from "./support/fixtures.ts";

test("an agent's plan is shown and approved, and the agent gets the tokens", async ({ page, shop }) => {
  await page.goto(at(shop, "/connect"));
  const card = page.getByRole("region", { name: "Set up by a coding agent" });
  await card.getByRole("button", { name: "Make a prompt for the agent" }).click();
  await expect(card.locator("pre")).toContainText("••••");
  expect(await card.locator("pre").textContent()).not.toMatch(/tws_\w+/);
  await card.getByRole("button", { name: /^Show the token: / }).click();
  const prompt = (await card.locator("pre").textContent()) ?? "";
  const token = /tws_\w+/.exec(prompt)?.[0] ?? "";
  expect(token).not.toBe("");
  await expect(card.getByText("Waiting for what the agent proposes")).toBeVisible();

  const agent = async (path: string, body?: unknown) => {
    const answer = await fetch(shop.url + path, {
      method: body ? "POST" : "GET",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: body ? JSON.stringify(body) : undefined,
    });
    expect(answer.status).toBe(200);
    return (await answer.json()) as { status: string; projects: { name: string; token: string }[] };
  };
  await agent("/api/setup/plan", { projects: [{ name: "proposed-api", framework: "gin" }, { name: "proposed-web" }] });
  await expect(card.getByText("proposed-api")).toBeVisible();
  expect(await serious(page)).toEqual([]);
  expect((await agent("/api/setup/session")).projects).toEqual([]);
  await card.getByRole("button", { name: "Make them" }).click();
  await expect(page.getByText("2 projects made")).toBeVisible();
  const session = await agent("/api/setup/session");
  expect(session.status).toBe("approved");
  expect(session.projects.map((one) => one.name)).toEqual(["proposed-api", "proposed-web"]);
  expect(session.projects[0].token).toMatch(/^[0-9a-f]{32}$/);
});
