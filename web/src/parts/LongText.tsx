import { useState } from "react";
import { cut } from "../model/content";
import { plural } from "../model/format";

/** Text of any length: the first 64 KB, the rest on request. */
export function LongText({ text, most = 65_536, className = "" }: { text: string; most?: number; className?: string }) {
  const [all, setAll] = useState(false);
  const { shown, hidden } = all ? { shown: text, hidden: 0 } : cut(text, most);
  return (
    <>
      <span className={`whitespace-pre-wrap [overflow-wrap:anywhere] ${className}`}>{shown}</span>
      {hidden > 0 && (
        <button type="button" className="btn mt-1" onClick={() => setAll(true)}>
          Show the rest ({plural(hidden, "character")})
        </button>
      )}
    </>
  );
}
