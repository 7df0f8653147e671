// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { StackTrace } from "./StackTrace";

afterEach(cleanup);

const TEXT =
  "TypeError: x\n    at mine (/srv/app/a.js:1:2)\n    at lib (/srv/node_modules/b.js:3:4)\n    at run (node:internal/c:5:6)";

it("marks the culprit frame and folds library frames until expanded", () => {
  render(<StackTrace text={TEXT} />);
  expect(screen.getByText("look here first").parentElement?.textContent).toContain("mine");
  expect(screen.queryByText(/node_modules/)).toBeNull();
  fireEvent.click(screen.getByRole("button", { name: "2 library frames" }));
  expect(screen.getByText(/node_modules/)).toBeTruthy();
});

it("shows the source around the first in-app frame, and around others when expanded", () => {
  const text = "E: x\n    at total (src/cart.ts:8:3)\n    at pay (src/pay.ts:3:1)\n    at go (src/go.ts:1:1)";
  const source = (file: string, line: number, column: number, words: string) => ({
    file,
    line,
    column,
    firstLine: line,
    lines: [words],
    mark: 0,
  });
  const { rerender } = render(<StackTrace text={text} />);
  expect(screen.queryByRole("button")).toBeNull();
  const sources = [source("src/cart.ts", 8, 3, "throw it;"), source("src/pay.ts", 3, 1, "total(cart);")];
  rerender(<StackTrace text={text} sources={sources} />);
  expect(screen.getByRole("region", { name: "Source of src/cart.ts, lines 8 to 8" }).textContent).toContain(
    "throw it;",
  );
  expect(screen.getByText("throw").tagName).toBe("MARK");
  expect(screen.queryByText(/total\(cart\)|\(cart\);/)).toBeNull();
  fireEvent.click(screen.getByRole("button", { name: "Source around pay, line 3" }));
  expect(screen.getByRole("region", { name: /src\/pay\.ts/ }).textContent).toContain("total(cart);");
  const first = screen.getByRole("button", { name: "Source around total, line 8", expanded: true });
  fireEvent.click(first);
  expect(screen.queryByRole("region", { name: /cart\.ts/ })).toBeNull();
  expect(screen.getAllByRole("button")).toHaveLength(2);
});
