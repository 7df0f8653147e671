// A name in one line: where it does not fit, an ellipsis stands in the middle. On a phone it wraps.
import type { ReactElement } from "react";
import { brief } from "../model/format";
import { Tip } from "./Tip";

/** Characters of the end that are always shown: names often differ there. */
const END = 14;
/** Names of this length fit beside the other columns. */
const FITS = 36;
/** A phone shows at most this much of the beginning. */
const BEGINNING_MAX = 160;

/** The name of a row, for the inside of its link. Links take `aria-label` from [`wholeName`]. */
export function MiddleCut({ name }: { name: string }) {
  const characters = [...name];
  if (characters.length <= FITS) return name;
  return (
    <span className="block whitespace-pre max-sm:whitespace-normal max-sm:[overflow-wrap:anywhere]">
      <span
        className="inline-block overflow-hidden text-ellipsis align-bottom max-sm:inline"
        style={{ maxWidth: `calc(100% - ${END}ch)` }}
      >
        {brief(characters.slice(0, -END).join(""), BEGINNING_MAX)}
      </span>
      {characters.slice(-END).join("")}
    </span>
  );
}

/** `aria-label` of a link around [`MiddleCut`]: the whole name, where the link shows it in two pieces. */
export function wholeName(name: string): string | undefined {
  return [...name].length > FITS ? name : undefined;
}

/** Shows the whole name beside a link around [`MiddleCut`] while it is pointed at or has the focus. */
export function WholeOnHover({ name, children }: { name: string; children: ReactElement<Record<string, unknown>> }) {
  if (!wholeName(name)) return children;
  return <Tip text={<span className="[overflow-wrap:anywhere]">{brief(name, 1000)}</span>}>{children}</Tip>;
}
