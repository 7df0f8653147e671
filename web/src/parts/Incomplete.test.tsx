// @vitest-environment happy-dom
import { act, cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { noteAnswer } from "../api/incomplete";
import { Incomplete } from "./Incomplete";

afterEach(cleanup);

it("a notice stands as long as an answer lacks rows", () => {
  render(<Incomplete />);
  const hears = (path: string, headers: HeadersInit) => act(() => noteAnswer(path, new Headers(headers)));
  hears("/api/logs", {});
  expect(screen.getByRole("status").textContent).toBe("");
  hears("/api/logs", { "tidewatch-incomplete": "rows of this range were damaged and set aside" });
  hears("/api/spans", {});
  expect(screen.getByText(/Incomplete/)).toBeTruthy();
  hears("/api/logs", {});
  expect(screen.queryByText(/Incomplete/)).toBeNull();
});
