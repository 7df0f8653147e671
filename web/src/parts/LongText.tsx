import { useState } from "react";
import { cut } from "../model/content";
import { markTerms } from "../model/content-terms";
import { plural } from "../model/format";

interface Props {
  text: string;
  most?: number;
  className?: string;
  /** Terms of the word lists that are marked. */
  terms?: string[];
}

/** Text of any length: the first 64 KB, the rest on request. */
export function LongText({ text, most = 65_536, className = "", terms }: Props) {
  const [all, setAll] = useState(false);
  const { shown, hidden } = all ? { shown: text, hidden: 0 } : cut(text, most);
  return (
    <>
      <span className={`whitespace-pre-wrap [overflow-wrap:anywhere] ${className}`}>
        {terms?.length ? <Marked text={shown} terms={terms} /> : shown}
      </span>
      {hidden > 0 && (
        <button
          type="button"
          className="btn mt-1 h-auto! min-h-7 max-w-full whitespace-normal! text-left"
          onClick={() => setAll(true)}
        >
          Show the rest ({plural(hidden, "character")})
        </button>
      )}
    </>
  );
}

function Marked({ text, terms }: { text: string; terms: string[] }) {
  return markTerms(text, terms).map((piece, i) =>
    piece.marked ? (
      <mark key={i} className="rounded bg-errorsoft px-0.5 text-ink underline decoration-error decoration-2">
        {piece.text}
      </mark>
    ) : (
      piece.text
    ),
  );
}
