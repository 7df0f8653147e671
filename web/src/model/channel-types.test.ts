import { expect, test } from "vitest";
import { CHANNEL_TYPES, fieldsOf, fromForm, TYPE_NAMES, toForm } from "./channel-types";

test.each<[(typeof TYPE_NAMES)[number], Record<string, unknown>]>([
  ["email", { recipients: ["a@b.c", "d@e.f"] }],
  ["webhook", { url: "https://a.b", method: "PUT", secret: "********", headers: { "X-A": "********", B: "c: d" } }],
  ["slack", { webhookUrl: "********", channel: "#a", username: "" }],
  ["telegram", { botToken: "********", chatId: "-5", apiUrl: "" }],
  ["escalation", { policyId: 3 }],
])("a stored configuration of %s is unchanged by its form", (type, config) => {
  expect(fromForm(type, toForm(type, config))).toEqual({ config });
});

test("fields of other choices are left out", () => {
  const values = { ...toForm("pushover", { userKey: "u", appToken: "a", priority: 2 }), retry: "60", expire: "600" };
  const emergency = fromForm("pushover", values);
  expect(emergency).toEqual({ config: expect.objectContaining({ priority: 2, retry: 60, expire: 600 }) });
  const normal = fromForm("pushover", { ...values, priority: "0" });
  expect(normal).toEqual({ config: expect.not.objectContaining({ retry: 60 }) });
});

test.each<[(typeof TYPE_NAMES)[number], Record<string, string>, string]>([
  ["email", { recipients: " \n" }, "Recipients is missing."],
  ["webhook", { url: "https://a.b", headers: "no colon" }, "Own headers: a line is a name, a colon and a value."],
  ["escalation", { policyId: "" }, "Policy is missing."],
])("what is wrong with %s is said", (type, values, error) => {
  expect(fromForm(type, values)).toEqual({ error });
});

test("labels of a type are distinct", () => {
  for (const type of TYPE_NAMES) {
    const labels = fieldsOf(type).map((field) => field.label);
    expect(new Set(labels).size, CHANNEL_TYPES[type].label).toBe(labels.length);
  }
});
