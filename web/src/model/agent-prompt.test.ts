import { expect, test } from "vitest";
import { agentPrompt } from "./agent-prompt";

test("contains the address, the token and the path of the plan", () => {
  const text = agentPrompt("https://tide.example.com", "tws_1");
  for (const part of ["tws_1", "https://tide.example.com/api/setup/plan", "https://tide.example.com/api/otel"])
    expect(text).toContain(part);
});
