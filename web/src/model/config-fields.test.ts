import { expect, test } from "vitest";
import { carriedOver, type FormValues, fromForm, isShown, labelOf, newConfig, toForm } from "./config-fields";
import type { ConfigField, ConfigType } from "./types";

/** A field as the API describes it. */
const field = (key: string, kind: ConfigField["kind"], more: Partial<ConfigField> = {}): ConfigField => ({
  key,
  label: key,
  kind,
  required: false,
  folded: false,
  hidden: false,
  ...more,
});

const WEBHOOK = [
  field("url", "url", { required: true }),
  field("method", "choice", { options: ["POST", "PUT"].map((value) => ({ value, label: value })), default: "" }),
  field("secret", "secret", { default: "" }),
  field("headers", "map", { default: {} }),
];
const PUSHOVER = [
  field("userKey", "secret", { required: true }),
  field("priority", "choice", { options: [0, 1, 2].map((value) => ({ value, label: `P${value}` })), default: null }),
  field("retry", "integer", { required: true, minimum: 30, when: { key: "priority", values: [2] } }),
  field("ttl", "integer", { minimum: 1, default: null, when: { key: "priority", values: [null, 0, 1] } }),
  field("html", "boolean", { default: false }),
  field("apiUrl", "url", { hidden: true, default: null }),
];
const HTTP = [
  field("url", "url", { required: true, suggested: "https://" }),
  field("auth.type", "choice", {
    options: ["none", "basic"].map((value) => ({ value, label: value })),
    default: "none",
  }),
  field("auth.username", "string", { required: true, when: { key: "auth.type", values: ["basic"] } }),
  field("assertions.statusCodes", "integers", { default: [] }),
  field("assertions.maxResponseTimeMs", "integer", { minimum: 1, maximum: 120_000, default: null }),
  field("body", "lines", { default: "" }),
];
const SEARCH = [
  field("rows", "choice", {
    options: [
      { value: "endpoint", label: "Endpoints" },
      { value: null, label: "A metric" },
    ],
    default: null,
    suggested: "endpoint",
  }),
  field("query", "string", { default: "", when: { key: "rows", values: ["endpoint"] } }),
  field("metricName", "string", { required: true, when: { key: "rows", values: [null] } }),
  field("tagFilters", "map", { hidden: true, default: {} }),
  field("threshold", "number", { exclusiveMinimum: 0, maximum: 100, default: 5 }),
];
const BROWSER = [field("script", "script", { required: true }), field("env", "variables", { default: {} })];

test.each<[string, ConfigField[], Record<string, unknown>]>([
  ["strings", [field("recipients", "strings", { required: true })], { recipients: ["a@b.c", "d@e.f"] }],
  [
    "a map",
    WEBHOOK,
    { url: "https://a.b", method: "PUT", secret: "********", headers: { "X-A": "********", B: "c: d" } },
  ],
  ["a policy", [field("policyId", "policy", { required: true })], { policyId: 3 }],
  ["a hidden value", PUSHOVER, { userKey: "********", priority: 2, retry: 60, html: true, apiUrl: "https://a.b" }],
  [
    "nested values",
    HTTP,
    {
      url: "https://a.b",
      auth: { type: "basic", username: "ada" },
      assertions: { statusCodes: [200, 204], maxResponseTimeMs: 500 },
      body: " {}\n",
    },
  ],
  ["null as a choice", SEARCH, { rows: null, metricName: "cpu", tagFilters: { host: "a" }, threshold: 0.5 }],
  ["variables", BROWSER, { script: "await page.title();\n", env: { USER: "********", URL: "" } }],
])("a stored configuration with %s is unchanged by its form", (_, fields, config) => {
  expect(fromForm(fields, toForm(fields, config), config)).toEqual({ config });
});

test("a new form has what is suggested, or else the defaults", () => {
  expect(newConfig(HTTP)).toEqual({
    url: "https://",
    auth: { type: "none" },
    assertions: { statusCodes: [], maxResponseTimeMs: null },
    body: "",
  });
  expect(newConfig(SEARCH)).toEqual({ rows: "endpoint", query: "", tagFilters: {}, threshold: 5 });
  expect(toForm(WEBHOOK, {})).toEqual({ url: "", method: "POST", secret: "", headers: "" });
});

test("fields of other choices are neither shown nor sent", () => {
  const values = { ...toForm(PUSHOVER, { userKey: "u", priority: 2 }), retry: "60", ttl: "5" };
  expect(fromForm(PUSHOVER, values)).toEqual({ config: { userKey: "u", priority: 2, retry: 60, html: false } });
  const normal = { ...values, priority: "0" };
  expect(fromForm(PUSHOVER, normal)).toEqual({ config: { userKey: "u", priority: 0, ttl: 5, html: false } });
  expect(PUSHOVER.filter((one) => isShown(one, normal)).map((one) => one.key)).not.toContain("retry");
});

test.each<[ConfigField, string, string]>([
  [field("Recipients", "strings", { required: true }), " \n", "Recipients is missing."],
  [field("Own headers", "map"), "no colon", "Own headers: a line is a name, a colon and a value."],
  [field("Policy", "policy", { required: true }), "", "Policy is missing."],
  [field("Metric", "string", { required: true }), " ", "Metric is missing."],
  [field("Threshold", "number", { default: 5 }), "", "Threshold is a number."],
  [field("Threshold", "number"), "x", "Threshold is a number."],
  [field("Minutes", "integer"), "1.5", "Minutes is a whole number."],
  [field("Minutes", "integer", { minimum: 1, maximum: 60 }), "61", "Minutes is 1 to 60."],
  [field("Repeat", "integer", { minimum: 30 }), "29", "Repeat is at least 30."],
  [field("Stop", "integer", { maximum: 30 }), "31", "Stop is at most 30."],
  [field("Cost", "number", { exclusiveMinimum: 0 }), "0", "Cost is above 0."],
  [field("Share", "number", { exclusiveMinimum: 0, maximum: 100 }), "101", "Share is above 0 and at most 100."],
  [field("Status", "integers"), "200, ok", "Status: whole numbers, with commas between."],
])("what is wrong is said: %#", (one, entered, error) => {
  expect(fromForm([one], { [one.key]: entered })).toEqual({ error });
});

test.each<[ConfigField, string, unknown]>([
  [field("a", "integer", { default: null }), "", null],
  [field("a", "number"), " 7.5 ", 7.5],
  [field("a", "strings"), " a \n\nb", ["a", "b"]],
  [field("a", "integers"), "200, 204 301", [200, 204, 301]],
  [field("a", "url"), " https://a.b ", "https://a.b"],
  [field("a", "string", { required: true }), " db ", "db"],
  [field("a", "string"), "with a space ", "with a space "],
])("what is typed becomes a value: %#", (one, entered, value) => {
  expect(fromForm([one], { a: entered })).toEqual({ config: { a: value } });
});

const type = (name: string, fields: ConfigField[]): ConfigType => ({
  type: name,
  label: name.toUpperCase(),
  about: "",
  settings: [],
  fields,
});

test("another type keeps what was changed in a field that it has too", () => {
  const tcp = type("tcp", [field("host", "string"), field("port", "integer", { suggested: 443 })]);
  const tls = type("tls", [field("host", "string"), field("port", "integer", { default: 8443 })]);
  const values: FormValues = { host: "db", port: "443" };
  expect(carriedOver(tcp, values, tls)).toEqual({ host: "db", port: "8443" });
});

test("types have labels, also unknown ones", () => {
  const types = [type("tcp", [])];
  expect([labelOf(types, "tcp"), labelOf(types, "new"), labelOf(undefined, "tcp")]).toEqual(["TCP", "new", ""]);
});
