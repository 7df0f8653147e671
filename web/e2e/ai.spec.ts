// AI traces: groups, conversations, users, the turns of a conversation, flags.
import { at, expect, test } from "./support/fixtures.ts";
import { look } from "./support/layout.ts";

test("AI traces are grouped by what is chosen, and a group opens its rows", async ({ page, desk }) => {
  await page.goto(at(desk, "/ai"));
  const choice = page.getByRole("combobox", { name: "Group by" });
  const table = page.getByRole("table", { name: /^AI traces/ });
  for (const [by, group] of [
    ["Model", "gpt-4o"],
    ["Provider", "openai"],
    ["Prompt", "orders"],
    ["Service", "front"],
  ]) {
    await choice.selectOption(by);
    await expect(table.getByRole("columnheader", { name: by })).toBeVisible();
    const row = table.locator("tbody").getByRole("row");
    await expect(row).toHaveCount(1);
    await expect(row).toContainText(group);
    await expect(row).toContainText("$0.03704");
    await expect(row).toContainText("1 flagged");
    await expect(page.getByRole("figure", { name: "What it costs" })).toContainText(group);
  }
  await table.getByRole("link", { name: "front", exact: true }).click();
  await expect(page).toHaveURL(/q=service(:|%3A)front/);
  await expect(table).toContainText("desk-assistant");
});

test("a user's conversations, and the turns of one", async ({ page, desk }) => {
  await page.goto(at(desk, "/ai?by=user"));
  const users = page.getByRole("table", { name: "Users" });
  await expect(users.locator("tbody").getByRole("row")).toHaveCount(1);
  await users.getByRole("link", { name: "ann" }).click();
  const talks = page.getByRole("table", { name: "Conversations" });
  await expect(talks.locator("tbody").getByRole("row")).toHaveCount(1);
  await expect(talks).toContainText("talk-7");
  await talks.getByRole("link", { name: "desk-assistant" }).click();

  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Conversation");
  const turns = page.getByRole("list", { name: "Turns of the conversation" });
  await expect(turns.getByRole("heading", { level: 2 })).toHaveText(["Turn 1", "Turn 2", "Turn 3"]);
  const first = turns.getByRole("listitem").filter({ has: page.getByRole("heading", { name: "Turn 1" }) });
  await expect(first).toContainText("$0.01235");
  await expect(first).toContainText("Where is order 2?");
  await expect(first).toContainText("Order 2 is on its way.");
  // The tool ran beside the call, below the request: it belongs to the call before it.
  const tools = page.getByRole("list", { name: "Tools of turn 1" });
  await expect(tools.getByRole("listitem")).toHaveCount(1);
  await expect(tools.getByText("Arguments")).toBeHidden();
  await tools.locator("summary").click({ position: { x: 16, y: 10 } });
  await expect(tools.getByText("on its way")).toBeVisible();
  await expect(turns).toContainText("cut off");
  await first.getByRole("link", { name: "Trace", exact: true }).click();
  await expect(page).toHaveURL(/\/traces\//);
});

test("flags select AI traces", async ({ page, desk }) => {
  await page.goto(at(desk, "/ai"));
  const table = page.getByRole("table", { name: /^AI traces/ });
  await expect(table).toContainText("$0.03704");
  const flags = page.getByRole("combobox", { name: "Flags" });
  await flags.selectOption("cut off");
  await expect(table).toContainText("$0.01235");
  await expect(table).not.toContainText("$0.03704");
  await flags.selectOption("refused");
  await expect(page.getByText("No AI traces match")).toBeVisible();
  await page.getByRole("button", { name: "Clear search and filters" }).click();
  await expect(table).toContainText("$0.03704");
});

test("tokens by kind are a chart", async ({ page, desk }) => {
  await page.goto(at(desk, "/ai"));
  await page.getByRole("button", { name: "Token kinds" }).click();
  await expect(page.getByRole("figure", { name: "Tokens by kind" })).toBeVisible();
});

test("the page of a conversation fits a desktop and a phone, light and dark", async ({ page, desk }) => {
  await page.goto(at(desk, "/ai?conversation=talk-7"));
  await page
    .locator("details summary")
    .first()
    .click({ position: { x: 16, y: 10 } });
  await expect(page.getByText("Arguments").first()).toBeVisible();
  await look(page, "ai-conversation");
});
