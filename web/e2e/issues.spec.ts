// Triage of issues on seeded data, against the real server.
import { at, expect, test } from "./support/fixtures.ts";
import { fits } from "./support/layout.ts";

test("an issue is resolved, found by its state, commented, assigned and reopened", async ({ page, shop }) => {
  await page.goto(at(shop, "/issues"));
  await page
    .getByRole("row", { name: /CardDeclined/ })
    .getByRole("link", { name: "CardDeclined", exact: true })
    .click();
  await expect(page.getByText("Event 1 of 5")).toBeVisible();
  await expect(page.getByRole("region", { name: "Spread over tags" })).toContainText("over 5 events");

  const grouping = page.getByRole("region", { name: "Grouping" });
  await grouping.getByText("What counts").click();
  await expect(grouping.getByRole("list", { name: "Parts that count" })).toContainText("CardDeclined");
  await expect(grouping).toContainText("Grouping rule 2");

  await page.getByRole("combobox", { name: "Assignee" }).selectOption({ label: "Ada Byron" });
  const activity = page.getByRole("list", { name: "Activity of this issue" });
  await expect(activity).toContainText("assigned it to Ada Byron");
  await page.getByRole("textbox", { name: "Comment" }).fill("The provider is **down**.");
  await page.getByRole("button", { name: "Comment", exact: true }).click();
  await expect(activity).toContainText("The provider is **down**.");
  await page.getByRole("button", { name: "Edit the comment" }).click();
  await page.getByRole("textbox", { name: "Edit the comment" }).fill("It works again.");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(activity).toContainText("It works again.");

  await page.getByRole("heading", { level: 1 }).click();
  await page.keyboard.press("v");
  await expect(page.getByRole("heading", { level: 1 }).locator("..")).toContainText("resolved");
  await expect(activity).toContainText("set it to resolved");

  await page.goto(at(shop, "/issues"));
  await expect(page.getByRole("row", { name: /CardDeclined/ })).toHaveCount(0);
  await page.getByRole("combobox", { name: "State of issues" }).selectOption("resolved");
  await expect(page.getByRole("row", { name: /CardDeclined/ })).toContainText("resolved");
  await page.getByRole("combobox", { name: "Assignee of issues" }).selectOption({ label: "Not assigned" });
  await expect(page.getByRole("row", { name: /CardDeclined/ })).toHaveCount(0);
  await page.getByRole("combobox", { name: "Assignee of issues" }).selectOption({ label: "Ada Byron" });
  await page.getByRole("checkbox", { name: /CardDeclined/ }).check();
  await page.getByRole("toolbar", { name: "Selected issues" }).getByRole("button", { name: "Reopen" }).click();
  await expect(page.getByRole("row", { name: /CardDeclined/ })).toHaveCount(0);
  await page.goto(at(shop, "/issues?state=muted"));
  await page.goto(at(shop, "/issues"));
  await expect(page.getByRole("row", { name: /CardDeclined/ })).toHaveCount(1);
});

test("issues on a phone", async ({ page, shop }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.emulateMedia({ colorScheme: "dark" });
  await page.goto(at(shop, "/issues"));
  await page.getByRole("link", { name: "CardDeclined", exact: true }).waitFor();
  await page.getByRole("link", { name: "CardDeclined", exact: true }).click();
  await expect(page.getByText("Event 1 of 5")).toBeVisible();
  await fits(page);
});

test("frames link to the code host; the stack trace is searched; the issue is copied as Markdown", async ({
  page,
  shop,
  context,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const headers = { "content-type": "application/json", authorization: `Bearer ${shop.session}` };
  const report = { service: "payments", version: "1.42.0", commit: "abc123" };
  const url = (path: string) => `${shop.url}${path}?projectId=${shop.project}`;
  const sent = await fetch(url("/api/deploys"), { method: "POST", headers, body: JSON.stringify(report) });
  expect(sent.status).toBe(200);
  await page.goto(at(shop, "/settings"));
  await page.getByRole("textbox", { name: "Address of a line" }).fill("https://code.example/{commit}/{path}#L{line}");
  await page.getByRole("textbox", { name: "Folder of the code" }).fill("/srv/payments");
  await page.getByRole("button", { name: "Save links" }).click();
  await expect(page.getByText("Saved", { exact: true })).toBeVisible();

  await page.goto(at(shop, "/issues"));
  await page.getByRole("link", { name: "CardDeclined", exact: true }).click();
  const link = page.getByRole("link", { name: "Source of capture at the code host" });
  await expect(link).toHaveAttribute("href", "https://code.example/abc123/app/gateway.py#L41");
  // Not in the list of what was left out, which is closed.
  const routing = page.getByText("routing.py").filter({ visible: true });
  await expect(routing).toHaveCount(0);
  await page.getByRole("searchbox", { name: "Find in the stack trace" }).fill("fastapi/routing");
  await expect(page.getByText("1 line", { exact: true })).toBeVisible();
  await expect(routing.first()).toBeVisible();

  await page.getByRole("button", { name: "Copy the issue as Markdown" }).click();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toContain("## `CardDeclined`");
  expect(copied).toContain("- Commit: `abc123`");
  expect(copied).toContain("raise CardDeclined(answer.code)");
});

test("several issues are merged, muted and separated again", async ({ page, shop }) => {
  const headers = { "content-type": "application/json", authorization: `Bearer ${shop.session}` };
  const made = await fetch(`${shop.url}/api/projects`, { method: "POST", headers, body: '{"name":"merges"}' });
  const project = (await made.json()) as { id: string; token: string };
  const string = (key: string, value: string) => ({ key, value: { stringValue: value } });
  const span = (type: string, i: number) => ({
    traceId: `${i}`.padStart(32, "1"),
    spanId: `${i}`.padStart(16, "1"),
    name: "GET /",
    kind: 2,
    startTimeUnixNano: `${Date.now() - 60_000}000000`,
    endTimeUnixNano: `${Date.now() - 59_000}000000`,
    attributes: [
      string("exception.type", type),
      string("exception.message", "no answer"),
      string("exception.stacktrace", `${type}: no answer\n    at ${type} (app.js:1:2)`),
      string("user.id", `u${i}`),
    ],
  });
  const scopeSpans = [{ spans: [span("FirstFault", 2), span("FirstFault", 3), span("SecondFault", 4)] }];
  const sent = await fetch(`${shop.url}/api/otel/v1/traces`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${project.token}` },
    body: JSON.stringify({
      resourceSpans: [{ resource: { attributes: [string("service.name", "web")] }, scopeSpans }],
    }),
  });
  expect(sent.status).toBe(200);

  const list = `${shop.url}/p/${project.id}/issues`;
  await page.goto(list);
  await page.getByRole("checkbox", { name: /FirstFault/ }).check();
  await page.getByRole("checkbox", { name: /SecondFault/ }).check();
  await page.getByRole("toolbar", { name: "Selected issues" }).getByRole("button", { name: "Merge" }).click();
  const row = page.getByRole("row", { name: /2 stacks/ });
  await expect(row).toContainText("3");
  await expect(page.getByRole("checkbox", { name: /^Select .*Fault/ })).toHaveCount(1);
  await row.getByRole("checkbox").check();
  await page
    .getByRole("toolbar", { name: "Selected issues" })
    .getByRole("combobox", { name: "Mute" })
    .selectOption({ label: "1 day" });
  await expect(row).toHaveCount(0);
  await page.getByRole("combobox", { name: "State of issues" }).selectOption("muted");
  await expect(row).toContainText("muted");
  await row.getByRole("link", { name: /Fault$/ }).click();
  await expect(page.getByText("Event 1 of 3")).toBeVisible();
  await page
    .getByRole("region", { name: "Merged issues" })
    .getByRole("button", { name: /^Separate/ })
    .click();
  await expect(page.getByRole("region", { name: "Merged issues" })).toHaveCount(0);
  await page.goto(`${list}?state=all`);
  await expect(page.getByRole("checkbox", { name: /^Select .*Fault/ })).toHaveCount(2);
});

test("a grouping rule is previewed, saved, ordered and deleted", async ({ page, shop, problems }) => {
  await page.goto(at(shop, "/settings"));
  const form = page.getByRole("form", { name: "New grouping rule" });
  const save = form.getByRole("button", { name: "Save rule" });
  await form.getByRole("textbox", { name: "Query" }).fill("type:CardDeclined");
  await form.getByRole("textbox", { name: "Template" }).fill("cards of {{service.name}}");
  await expect(save).toBeDisabled();
  await form.getByRole("button", { name: "Preview" }).click();
  await expect(form.getByRole("status", { name: "Preview" })).toContainText("split 0");
  await save.click();
  const rules = page.getByRole("list", { name: "Grouping rules" });
  await expect(rules).toContainText("type:CardDeclined → cards of {{service.name}}");

  await form.getByRole("textbox", { name: "Query" }).fill("type:Other");
  await form.getByRole("textbox", { name: "Template" }).fill("{{");
  await form.getByRole("button", { name: "Preview" }).click();
  await expect(form.getByRole("alert")).toContainText("without");
  // The browser logs the refusal.
  problems.length = 0;
  await form.getByRole("textbox", { name: "Template" }).fill("others");
  await form.getByRole("button", { name: "Preview" }).click();
  await expect(form.getByRole("status", { name: "Preview" })).toContainText("No event");
  await save.click();
  await expect(rules.getByRole("listitem")).toHaveCount(2);
  await page.getByRole("button", { name: "Move rule 2 up" }).click();
  await expect(rules.getByRole("listitem").first()).toContainText("others");
  await page.getByRole("button", { name: "Delete rule 2" }).click();
  await page.getByRole("button", { name: "Delete rule 1" }).click();
  await expect(rules).toHaveCount(0);
});
