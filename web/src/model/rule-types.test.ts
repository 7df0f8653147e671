import { describe, expect, test } from "vitest";
import { fieldText, prefilled, RULE_TYPES, type RuleType, ruleProblem, ruleType, withField } from "./rule-types";

function type(value: string): RuleType {
  const found = ruleType(value);
  if (!found) throw new Error(value);
  return found;
}

describe("types of rules", () => {
  test("each has its fields among its defaults, and a name of its own", () => {
    for (const { fields, defaults } of RULE_TYPES)
      for (const { key } of fields) expect(Object.keys(defaults)).toContain(key);
    expect(new Set(RULE_TYPES.map((one) => one.value)).size).toBe(25);
  });

  test("typed fields become values", () => {
    const rate = type("error_rate_threshold");
    const [threshold] = rate.fields;
    expect(withField(rate.defaults, threshold, "7.5").thresholdPercent).toBe(7.5);
    expect(ruleProblem(rate, withField(rate.defaults, threshold, ""))).toBe("Threshold is a number");
    expect(ruleProblem(rate, rate.defaults)).toBeNull();
    const errors = type("new_error");
    const config = withField(errors.defaults, errors.fields[0], " a \n\nb");
    expect(config.ignorePatterns).toEqual(["a", "b"]);
    expect(fieldText(config, errors.fields[0])).toBe("a\nb");
  });

  test("a search of rows needs no metric, and a metric no query", () => {
    const search = type("query_threshold");
    expect(ruleProblem(search, search.defaults)).toBeNull();
    const metric = withField(search.defaults, search.fields[0], "");
    expect(metric.rows).toBeNull();
    expect(ruleProblem(search, metric)).toBe("Metric is empty");
  });

  test("an address fills known keys only", () => {
    const rate = type("endpoint_error_rate");
    expect(prefilled(rate, '{"endpoint":"GET /a","other":1}')).toEqual({ ...rate.defaults, endpoint: "GET /a" });
    for (const wrong of [undefined, "", "{", "1", "null"]) expect(prefilled(rate, wrong)).toEqual(rate.defaults);
  });
});
