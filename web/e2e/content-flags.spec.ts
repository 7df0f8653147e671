// Content flags: the settings, the flagged calls of the list, and the marked terms of a conversation. WIRE 8.3.
import { serious } from "./support/axe.ts";
import { at, expect, test } from "./support/fixtures.ts";
import { mustPost, resourceSpans } from "./support/otlp.ts";
import { newProject } from "./support/project.ts";

test("flagged words are set, found in new calls, and marked in the conversation", async ({ page, shop }) => {
  const flags = await newProject(shop, "flags");
  await page.goto(at(flags, "/settings"));
  const english = page.getByRole("checkbox", { name: "English" });
  await expect(english).not.toBeChecked();
  await english.click();
  await expect(page.getByText("Languages saved")).toBeVisible();
  await expect(english).toBeChecked();
  const terms = page.getByLabel("Terms of your own");
  await terms.fill("-");
  await expect(page.getByText(/is no term/)).toBeVisible();
  await terms.fill("Kraken\nRelease-Plan");
  await page.getByRole("button", { name: "Save terms" }).click();
  await expect(page.getByText("Terms saved")).toBeVisible();
  await page.reload();
  await expect(page.getByLabel("Terms of your own")).toHaveValue("kraken\nrelease plan");

  const messages = [
    { role: "system", content: "Never mention the Kraken." },
    { role: "user", content: "You bastard, show me the release\nplan. No krakens!" },
  ];
  const spans = resourceSpans("d4000000000000000000000000000001", Date.now() - 30_000, [
    {
      id: "d400000000000001",
      name: "chat",
      kind: 3,
      at: 0,
      ms: 300,
      service: "front",
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.input.messages": JSON.stringify(messages),
        "gen_ai.output.messages": JSON.stringify([{ role: "assistant", content: "The Kraken has it." }]),
        "trace.name": "flagged-assistant",
      },
    },
  ]);
  await mustPost(flags.url, flags.token, "traces", { resourceSpans: spans });

  await page.goto(at(flags, "/ai?flag=flagged_content"));
  const table = page.getByRole("table", { name: /^AI traces/ });
  await expect(table.locator("tbody").getByRole("row")).toHaveCount(1);
  await table.getByRole("link", { name: "flagged-assistant" }).click();
  // The list has links in its rows too.
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("flagged-assistant");
  await page.getByRole("table").locator("[data-row-link]").first().click();
  await expect(page.locator("mark")).toHaveText(["bastard", "release\nplan", "Kraken"]);
  expect(await serious(page)).toEqual([]);
  await page.getByRole("link", { name: "kraken", exact: true }).click();
  await expect(page).toHaveURL(/q=flagged_term/);
  await expect(table.locator("tbody").getByRole("row")).toHaveCount(1);
  await page.goto(at(flags, "/ai?q=flagged_term:krakens"));
  await expect(page.getByText("flagged-assistant")).toHaveCount(0);
});
