// @vitest-environment happy-dom
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";
import type { MarkdownNode } from "../model/types";
import { Markdown } from "./Markdown";

afterEach(cleanup);

const node = (kind: string, more: Partial<MarkdownNode> = {}): MarkdownNode => ({
  kind,
  text: "",
  level: 0,
  href: "",
  children: [],
  ...more,
});
const words = (text: string) => node("text", { text });

describe("Markdown", () => {
  it("shows HTML as it was typed", () => {
    const { container } = render(
      <Markdown nodes={[node("paragraph", { children: [words("<img src=x onerror=1>")] })]} />,
    );
    expect(container.textContent).toBe("<img src=x onerror=1>");
    expect(container.querySelector("img")).toBeNull();
  });

  it.each([
    ["https://example.com", true],
    ["mailto:a@example.com", true],
    ["/issues/1", true],
    ["javascript:alert(1)", false],
    ["JAVASCRIPT:alert(1)", false],
    ["data:text/html,x", false],
    ["//example.com", false],
    ["", false],
  ])("links to %s: %s", (href, isLink) => {
    render(<Markdown nodes={[node("link", { href, children: [words(`to ${href}`)] })]} />);
    expect(screen.queryByRole("link") !== null).toBe(isLink);
  });

  it("has the elements of its nodes", () => {
    const item = node("item", { children: [words("one")] });
    const { container } = render(
      <Markdown
        nodes={[
          node("heading", { level: 1, children: [words("a")] }),
          node("list", { children: [item] }),
          node("code_block", { text: "x < y" }),
          node("table", { children: [node("row", { children: [node("cell", { children: [words("c")] })] })] }),
        ]}
      />,
    );
    const names = ["h3", "ul > li", "pre", "table td"];
    expect(names.map((name) => container.querySelector(name)?.textContent)).toEqual(["a", "one", "x < y", "c"]);
  });
});
