import { expect, test } from "vitest";
import { agentPrompt } from "./agent-prompt";

test("names the address and the token, and where the plan goes", () => {
  const text = agentPrompt("https://tide.example.com", "tws_1");
  for (const part of ["tws_1", "https://tide.example.com/api/setup/plan", "https://tide.example.com/api/otel"])
    expect(text).toContain(part);
});
