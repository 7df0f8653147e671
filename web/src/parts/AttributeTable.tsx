// Keys and values with copy buttons, and a filter if there are many.
import { useState } from "react";
import { prettyJson } from "../model/content";
import { plural } from "../model/format";
import type { Attributes } from "../model/types";
import { Breakable } from "../ui/Breakable";
import { CopyButton } from "../ui/Copy";
import { LongText } from "./LongText";

export function AttributeTable({
  attributes,
  label,
  empty = "None.",
}: {
  attributes: Attributes | null | undefined;
  label: string;
  empty?: string;
}) {
  const [query, setQuery] = useState("");
  const all = Object.entries(attributes ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  if (!all.length) return <p className="text-ink2">{empty}</p>;
  const wanted = query.toLowerCase();
  const shown = wanted ? all.filter(([key, value]) => `${key}=${value}`.toLowerCase().includes(wanted)) : all;
  return (
    <div>
      {all.length > 12 && (
        <input
          className="input mb-2"
          aria-label={`Filter ${label}`}
          placeholder={`Filter ${plural(all.length, "attribute")}`}
          value={query}
          onChange={(event) => setQuery(event.target.value)}
        />
      )}
      <dl aria-label={label} className="text-dense">
        {shown.map(([key, value]) => (
          <div
            key={key}
            className="group grid grid-cols-[minmax(90px,2fr)_minmax(0,3fr)_24px] items-start gap-x-3 border-line border-b py-1 last:border-b-0"
          >
            <dt className="font-mono text-ink2 [overflow-wrap:anywhere]">
              <Breakable name={key} />
            </dt>
            <dd className="font-mono">
              <LongText text={prettyJson(value)} most={2000} />
            </dd>
            <dd>
              <CopyButton text={value} label={`Copy ${key}`} />
            </dd>
          </div>
        ))}
        {!shown.length && <p className="text-ink2">No attribute matches.</p>}
      </dl>
    </div>
  );
}
