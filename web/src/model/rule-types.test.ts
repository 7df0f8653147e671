import { expect, test } from "vitest";
import { prefilled, ruleTypeLabel } from "./rule-types";
import type { ConfigField, ConfigType } from "./types";

const field = (key: string, kind: ConfigField["kind"], value: unknown): ConfigField => ({
  key,
  label: key,
  kind,
  required: false,
  folded: false,
  hidden: false,
  default: value,
});
const RATE: ConfigType = {
  type: "endpoint_error_rate",
  label: "Error rate of an endpoint",
  about: "",
  settings: [],
  fields: [field("endpoint", "string", "*"), field("thresholdPercent", "number", 2)],
};

test("an address fills known keys only", () => {
  const usual = { endpoint: "*", thresholdPercent: 2 };
  expect(prefilled(RATE, '{"endpoint":"GET /a","other":1}')).toEqual({ ...usual, endpoint: "GET /a" });
  for (const wrong of [undefined, "", "{", "1", "null"]) expect(prefilled(RATE, wrong)).toEqual(usual);
});

test("types of rules have labels, and so have changes of monitors", () => {
  expect(ruleTypeLabel([RATE], "endpoint_error_rate")).toBe("Error rate of an endpoint");
  expect(ruleTypeLabel([RATE], "monitor")).toBe("Monitor");
});
