// @vitest-environment happy-dom
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ApiError } from "../api/client";
import { Problem, Submit } from "./MutationButton";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const form = (error: Error | null, isPending = false) => (
  <form>
    <Problem of={{ error }} own={{ 401: "The password is wrong." }} />
    <Submit of={{ error, isPending }} busy="Saving…">
      Save
    </Submit>
  </form>
);
const button = () => screen.getByRole("button") as HTMLButtonElement;
const pass = (ms: number) => act(() => vi.advanceTimersByTime(ms));

it("after a 429 the button counts down and is enabled only at the end", () => {
  render(form(new ApiError(429, "rate limited", 3)));
  expect(button().textContent).toBe("Wait 3 s");
  expect(button().disabled).toBe(true);
  expect(screen.getByRole("alert").textContent).toContain("3 s left");
  pass(1000);
  expect(button().textContent).toBe("Wait 2 s");
  pass(1900);
  expect(button().disabled).toBe(true);
  pass(600);
  expect(button().textContent).toBe("Save");
  expect(button().disabled).toBe(false);
});

it("a second 429 with the same wait starts the countdown again", () => {
  const { rerender } = render(form(new ApiError(429, "rate limited", 2)));
  pass(3000);
  expect(button().disabled).toBe(false);
  rerender(form(new ApiError(429, "rate limited", 2)));
  expect(button().textContent).toBe("Wait 2 s");
  pass(2500);
  expect(button().textContent).toBe("Save");
});

it("long waits read in minutes", () => {
  render(form(new ApiError(429, "rate limited", 3600)));
  expect(button().textContent).toBe("Wait 1 h");
});

it("other errors do not disable the button and use the page's messages", () => {
  render(form(new ApiError(401, "unauthorized")));
  expect(screen.getByRole("alert").textContent).toBe("The password is wrong.");
  expect(button().disabled).toBe(false);
});

it("a 403 shows what was refused and who can help", () => {
  render(form(new ApiError(403, "only an owner names admins")));
  expect(screen.getByRole("alert").textContent).toBe(
    "Only an owner names admins. If you need it, ask an owner or admin of the organization.",
  );
});

it("is busy once", () => {
  const onClick = vi.fn();
  render(
    <Submit of={{ error: null, isPending: true }} busy="Saving…" onClick={onClick}>
      Save
    </Submit>,
  );
  expect(button().textContent).toBe("Saving…");
  fireEvent.click(button());
  expect(onClick).not.toHaveBeenCalled();
});
