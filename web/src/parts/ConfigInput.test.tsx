// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import type { FormValue } from "../model/config-fields";
import type { ConfigField } from "../model/types";
import { ConfigInput } from "./ConfigInput";

afterEach(cleanup);

function draw(field: Partial<ConfigField> & Pick<ConfigField, "label" | "kind">, value: FormValue) {
  const onChange = vi.fn();
  const whole = { key: "key", required: false, folded: false, hidden: false, ...field };
  render(<ConfigInput field={whole} value={value} onChange={onChange} />);
  return onChange;
}

it("a number has its unit in the label, and its bounds", () => {
  const onChange = draw({ label: "Repeat every", kind: "integer", unit: "seconds", minimum: 30, maximum: 60 }, "40");
  const input = screen.getByLabelText("Repeat every, seconds") as HTMLInputElement;
  expect([input.type, input.min, input.max, input.required]).toEqual(["number", "30", "60", false]);
  fireEvent.change(input, { target: { value: "50" } });
  expect(onChange).toHaveBeenCalledWith("50");
});

it("a number with a default is needed, but not in a folded part", () => {
  draw({ label: "Port", kind: "integer", default: 443 }, "443");
  draw({ label: "Folded", kind: "string", required: true, folded: true }, "");
  expect((screen.getByLabelText("Port") as HTMLInputElement).required).toBe(true);
  expect((screen.getByLabelText("Folded") as HTMLInputElement).required).toBe(false);
});

it("secrets are not shown", () => {
  draw({ label: "Token", kind: "secret", required: true }, "********");
  const input = screen.getByLabelText("Token") as HTMLInputElement;
  expect([input.type, input.required]).toEqual(["password", true]);
});

it("a duration that is not usual is an option too", () => {
  draw({ label: "Check every", kind: "seconds", usual: [60, 3600] }, "90");
  const options = [...(screen.getByLabelText("Check every") as HTMLSelectElement).options];
  expect(options.map((option) => option.textContent)).toEqual(["1 min", "90 s", "1 h"]);
});

it("variables are added up to their maximum", () => {
  const variables = [{ id: 0, name: "USER", value: "ada" }];
  const onChange = draw({ label: "Variables", kind: "variables", maxItems: 2 }, variables);
  fireEvent.click(screen.getByRole("button", { name: "Add variable" }));
  expect(onChange).toHaveBeenCalledWith([...variables, { id: 1, name: "", value: "" }]);
  cleanup();
  draw({ label: "Variables", kind: "variables", maxItems: 1 }, variables);
  expect(screen.queryByRole("button", { name: "Add variable" })).toBeNull();
});
