// The table of the server's rule (`rules/content_terms`): terms are whole words.
import { describe, expect, it } from "vitest";
import { markTerms } from "./content-terms";

const TERMS = ["project falcon", "acme", "über", "a.b"];
const marked = (text: string) => markTerms(text, TERMS).flatMap((piece) => (piece.marked ? piece.text : []));

describe("marked terms", () => {
  it.each([
    ["", []],
    ["Project Falcon is late", ["Project Falcon"]],
    ["PROJECT\n  falcon, again: project-falcon", ["PROJECT\n  falcon", "project-falcon"]],
    ["the projects falcon", []],
    ["project the falcon", []],
    ["acmeline (acme)", ["acme"]],
    ["acme2", []],
    ["Überraschung! ÜBER alles", ["ÜBER"]],
    ["axb", []],
  ])("%j: %j", (text, expected) => expect(marked(text)).toEqual(expected));

  it("keeps the text", () => {
    for (const text of ["", "no term", "acme", "an acme, acme project falcon"]) {
      expect(
        markTerms(text, TERMS)
          .map((piece) => piece.text)
          .join(""),
      ).toBe(text);
    }
    expect(markTerms("acme", [])).toEqual([{ text: "acme", marked: false }]);
  });
});
