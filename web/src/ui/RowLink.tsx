// A name in one line: where it does not fit, an ellipsis stands in the middle. On a phone it wraps.
import type { ReactElement } from "react";
import { brief } from "../model/format";
import { Tip } from "./Tip";

/** Width of the end that is always shown, in digits: names often differ there. */
const END = 14;
/** Names of this many characters fit beside the other columns. */
const FITS = 36;
/** A phone shows at most this many characters of the beginning. */
const BEGINNING_MAX = 160;
/** The first letters that are about as wide as two digits: Hangul, and most of what follows. */
const WIDE = 0x1100;

/** Characters at the end that are not wider than [`END`]. */
function lengthOfEnd(characters: string[]): number {
  let width = 0;
  const first = characters.findLastIndex((character) => {
    width += (character.codePointAt(0) ?? 0) < WIDE ? 1 : 2;
    return width > END;
  });
  return characters.length - 1 - first;
}

function MiddleCut({ name }: { name: string }) {
  const characters = [...name];
  if (characters.length <= FITS) return name;
  const end = lengthOfEnd(characters);
  return (
    <span className="block overflow-hidden text-ellipsis whitespace-pre max-sm:whitespace-normal max-sm:[overflow-wrap:anywhere]">
      <span
        className="inline-block overflow-hidden text-ellipsis align-bottom max-sm:inline"
        style={{ maxWidth: `calc(100% - ${END}ch)` }}
      >
        {brief(characters.slice(0, -end).join(""), BEGINNING_MAX)}
      </span>
      {characters.slice(-end).join("")}
    </span>
  );
}

interface RowLinkProps {
  "data-row-link": true;
  /** The whole name where the link shows it in two pieces. */
  "aria-label": string | undefined;
  className: string;
  children: ReactElement;
}

/**
 * The link of a row by its name, cut in the middle where it does not fit. The whole name is shown beside it while it is
 * pointed at or has the focus. `link` makes the link of these properties.
 */
export function RowLink({
  name,
  mono = false,
  link,
}: {
  name: string;
  mono?: boolean;
  link: (props: RowLinkProps) => ReactElement<Record<string, unknown>>;
}) {
  const isLong = [...name].length > FITS;
  const made = link({
    "data-row-link": true,
    "aria-label": isLong ? name : undefined,
    className: `row-link min-w-0 max-w-full font-medium ${mono ? "font-mono text-dense" : ""}`,
    children: <MiddleCut name={name} />,
  });
  if (!isLong) return made;
  return <Tip text={<span className="[overflow-wrap:anywhere]">{brief(name, 1000)}</span>}>{made}</Tip>;
}
