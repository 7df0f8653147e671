// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { StackTrace } from "./StackTrace";

afterEach(cleanup);

const TEXT =
  "TypeError: x\n    at mine (/srv/app/a.js:1:2)\n    at lib (/srv/node_modules/b.js:3:4)\n    at run (node:internal/c:5:6)";

it("marks the frame to look at and folds library frames until asked", () => {
  render(<StackTrace text={TEXT} />);
  expect(screen.getByText("look here first").parentElement?.textContent).toContain("mine");
  expect(screen.queryByText(/node_modules/)).toBeNull();
  fireEvent.click(screen.getByRole("button", { name: "2 library frames" }));
  expect(screen.getByText(/node_modules/)).toBeTruthy();
});
