// @vitest-environment happy-dom
import type { UseQueryResult } from "@tanstack/react-query";
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { ApiError } from "../api/client";
import { QueryView } from "./states";

afterEach(cleanup);

const query = (part: object) =>
  ({
    data: undefined,
    isError: false,
    isPlaceholderData: false,
    error: null,
    refetch: vi.fn(),
    ...part,
  }) as unknown as UseQueryResult<string>;
const show = (part: object) => render(<QueryView query={query(part)}>{(data) => <p>{data}</p>}</QueryView>);

it("shows the loading state without data", () => {
  show({});
  expect(screen.getByRole("status").textContent).toBe("Loading");
});

it("keeps old data, dimmed, while new data loads", () => {
  show({ data: "old", isPlaceholderData: true });
  expect(screen.getByText("old").parentElement?.getAttribute("aria-busy")).toBe("true");
});

it("shows the error and retries", () => {
  const refetch = vi.fn();
  show({ isError: true, error: new ApiError(422, "the range is longer than 31 days"), refetch });
  expect(screen.getByRole("alert").textContent).toContain(
    "The range is longer than 31 days. Narrow the time range or add a filter.",
  );
  fireEvent.click(screen.getByRole("button", { name: "Try again" }));
  expect(refetch).toHaveBeenCalledOnce();
});

it("keeps old data below the error", () => {
  show({ data: "old", isError: true, error: new ApiError(503, "busy", 7) });
  expect(screen.getByText("old")).toBeTruthy();
  expect((screen.getByRole("button", { name: "Retry in 7 s" }) as HTMLButtonElement).disabled).toBe(true);
});
