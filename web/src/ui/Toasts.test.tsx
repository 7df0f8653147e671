// @vitest-environment happy-dom
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { showToast } from "../model/toasts";
import { ToastArea } from "./Toasts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

it("offers Undo once, then disappears", () => {
  const undo = vi.fn();
  render(<ToastArea />);
  act(() => showToast("Archived 1 issue", { label: "Undo", run: undo }));
  fireEvent.click(screen.getByRole("button", { name: "Undo" }));
  expect(undo).toHaveBeenCalledOnce();
  expect(screen.queryByText("Archived 1 issue")).toBeNull();
});

it("stays while it is hovered", () => {
  render(<ToastArea />);
  act(() => showToast("Link copied"));
  fireEvent.pointerEnter(screen.getByText("Link copied").parentElement!);
  act(() => vi.advanceTimersByTime(60_000));
  expect(screen.queryByText("Link copied")).toBeTruthy();
  fireEvent.pointerLeave(screen.getByText("Link copied").parentElement!);
  act(() => vi.advanceTimersByTime(5_000));
  expect(screen.queryByText("Link copied")).toBeNull();
});
