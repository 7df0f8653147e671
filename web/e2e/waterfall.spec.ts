// A trace of 10,000 spans: complete, virtualised, searchable, and navigable by keyboard.
import { at, expect, test } from "./support/fixtures.ts";
import { BIG } from "./support/seed.ts";

test("all 10,000 spans are listed, but only visible rows are rendered", async ({ page, shop }) => {
  await page.goto(at(shop, `/traces/${BIG}`));
  const tree = page.getByRole("treegrid", { name: "Waterfall, 10,000 spans" });
  await expect(tree).toHaveAttribute("aria-rowcount", "10000");
  await expect.poll(() => tree.getByRole("row").count()).toBeLessThan(100);
  await tree.focus();
  await page.keyboard.press("End");
  await expect(tree.getByRole("row", { name: /call 98\.99/ })).toBeVisible();
  await expect.poll(() => tree.getByRole("row").count()).toBeLessThan(100);
});

test("filter, errors only, next error, zoom and collapse", async ({ page, shop }) => {
  await page.goto(at(shop, `/traces/${BIG}`));
  const tree = page.getByRole("treegrid");
  await page.getByRole("searchbox", { name: /Filter spans/ }).fill("call 42.7");
  // call 42.7 and 42.70 to 42.79, below their stage and the root
  await expect(tree).toHaveAttribute("aria-rowcount", "13");
  await expect(page.getByText("11 of 10,000 match")).toBeVisible();
  await page.getByRole("button", { name: "Clear search" }).click();
  await page.getByRole("button", { name: "Errors 5" }).click();
  await expect(tree).toHaveAttribute("aria-rowcount", "11");
  await page.getByRole("button", { name: "Next error" }).click();
  await expect(page.getByRole("complementary", { name: "Span call 0.57" })).toBeVisible();
  await page.keyboard.press("z");
  await expect(page).toHaveURL(/z=/);
  await page.keyboard.press("0");
  await expect(page).not.toHaveURL(/z=/);
  await page.getByRole("button", { name: "Errors 5" }).click();
  await page.getByRole("button", { name: "Close the span (Esc)" }).click();
  await page.getByRole("button", { name: "Collapse all" }).click();
  await expect(tree).toHaveAttribute("aria-rowcount", "100");
});
