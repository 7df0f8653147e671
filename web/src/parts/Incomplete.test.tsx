// @vitest-environment happy-dom
import { act, cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { recordResponse } from "../api/incomplete";
import { Incomplete } from "./Incomplete";

afterEach(cleanup);

it("the notice is shown while an answer lacks rows", () => {
  render(<Incomplete />);
  const respond = (path: string, headers: HeadersInit) => act(() => recordResponse(path, new Headers(headers)));
  respond("/api/logs", {});
  expect(screen.getByRole("status").textContent).toBe("");
  respond("/api/logs", { "tidewatch-incomplete": "rows of this range were damaged and set aside" });
  respond("/api/spans", {});
  expect(screen.getByText(/Incomplete/)).toBeTruthy();
  respond("/api/logs", {});
  expect(screen.queryByText(/Incomplete/)).toBeNull();
});
