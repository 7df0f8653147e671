// The page of links in messages. Responses are mocked; golden-alert.spec.ts uses a link of the server.
import { serious } from "./support/axe.ts";
import { expect, test } from "./support/fixtures.ts";

const SUBJECT = "Checkout fails for one in ten";

for (const [name, status, body, title, words] of [
  [
    "used",
    200,
    { subject: SUBJECT, status: "acknowledged", acknowledgedAt: "2026-03-01T09:00:00Z" },
    "Acknowledged",
    "used already",
  ],
  ["expired", 410, { error: "this link has expired" }, "This link has expired", "Look at the alert itself"],
  ["unknown", 404, { error: "no such link" }, "This link is not known", "resolved"],
] as const)
  test(`a link that is ${name} shows an error`, async ({ page, shop, problems }) => {
    await page.route("**/api/ack", (route) => route.fulfill({ status, json: body }));
    await page.goto(`${shop.url}/ack/twk_1`);
    await expect(page).toHaveURL(`${shop.url}/ack`);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(title);
    await expect(page.getByRole("main")).toContainText(words);
    await expect(page.getByRole("button", { name: "Acknowledge" })).toHaveCount(0);
    expect(await serious(page)).toEqual([]);
    problems.length = 0;
  });

test("opening a link does not acknowledge; its button does", async ({ page, shop }) => {
  const methods: string[] = [];
  await page.route("**/api/ack", (route) => {
    methods.push(route.request().method());
    expect(route.request().headers()["link-token"]).toBe("twk_1");
    const open = { subject: SUBJECT, status: "open", acknowledgedAt: null };
    const done = { ...open, status: "acknowledged", acknowledgedAt: new Date().toISOString() };
    return route.fulfill({ json: route.request().method() === "POST" ? done : open });
  });
  await page.goto(`${shop.url}/ack#token=twk_1`);
  await expect(page.getByText(SUBJECT)).toBeVisible();
  expect(await serious(page)).toEqual([]);
  expect(methods).toEqual(["GET"]);
  await page.getByRole("button", { name: "Acknowledge" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Acknowledged");
  await expect(page.getByText(SUBJECT)).toBeVisible();
  expect(methods).toContain("POST");
});

test("another link in the same tab is another page", async ({ page, shop }) => {
  await page.route("**/api/ack", (route) => {
    const request = route.request();
    const status = request.method() === "POST" ? "acknowledged" : "open";
    return route.fulfill({ json: { subject: request.headers()["link-token"], status, acknowledgedAt: null } });
  });
  await page.goto(`${shop.url}/ack#token=twk_1`);
  await page.getByRole("button", { name: "Acknowledge" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Acknowledged");
  // Only the fragment of the address differs, so the document stays.
  await page.goto(`${shop.url}/ack#token=twk_2`);
  await expect(page.getByText("twk_2")).toBeVisible();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Acknowledge this alert?");
});

test("an invalid link", async ({ page, shop, problems }) => {
  await page.goto(`${shop.url}/ack/nonsense`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("This link is not known");
  problems.length = 0;
});
