// A JSON object as a tree that opens. Each value can be added to the query, and shown as a column.
import { Columns3, Filter } from "lucide-react";
import { type Json, jsonText } from "../model/log-columns";

interface Props {
  value: { [key: string]: Json };
  /** Path of the object in queries, such as `body`. */
  path: string;
  onFilter?: (path: string, value: string) => void;
  onColumn?: (path: string) => void;
}

/** Fields of one object that are shown. */
const MOST = 100;
/** Levels that are open at first. */
const OPEN_LEVELS = 3;

export function JsonTree({ value, path, onFilter, onColumn }: Props) {
  return (
    <div className="font-mono text-dense" role="group" aria-label={`Fields of ${path}`}>
      <Fields value={value} path={path} level={0} onFilter={onFilter} onColumn={onColumn} />
    </div>
  );
}

type Inner = Omit<Props, "value"> & { value: Json[] | { [key: string]: Json }; level: number };

function Fields({ value, path, level, ...actions }: Inner) {
  const all = Object.entries(value);
  return (
    <ul className={level ? "border-line border-l pl-3" : ""}>
      {all.slice(0, MOST).map(([key, inner]) => (
        <Field key={key} name={key} value={inner} path={`${path}.${key}`} level={level} {...actions} />
      ))}
      {all.length > MOST && <li className="text-ink2">{all.length - MOST} further fields</li>}
    </ul>
  );
}

function Field({
  name,
  value,
  path,
  level,
  onFilter,
  onColumn,
}: Omit<Props, "value"> & { name: string; value: Json; level: number }) {
  if (value !== null && typeof value === "object") {
    const count = Object.keys(value).length;
    return (
      <li>
        <details open={level + 1 < OPEN_LEVELS}>
          <summary className="min-h-6 cursor-pointer text-ink2">
            {name} <span className="text-caption">{Array.isArray(value) ? `[${count}]` : `{${count}}`}</span>
          </summary>
          <Fields value={value} path={path} level={level + 1} onFilter={onFilter} onColumn={onColumn} />
        </details>
      </li>
    );
  }
  return (
    <li className="flex min-h-6 flex-wrap items-center gap-x-2">
      <span className="text-ink2 [overflow-wrap:anywhere]">{name}</span>
      <span className={`min-w-0 [overflow-wrap:anywhere] ${typeof value === "string" ? "" : "text-accent"}`}>
        {value === "" ? '""' : jsonText(value).slice(0, 2000)}
      </span>
      {value !== null && (
        <span className="flex">
          {onFilter && (
            <button
              type="button"
              title="Add to the query"
              aria-label={`Add ${path} to the query`}
              className="grid size-6 place-items-center rounded text-ink2 hover:bg-hover hover:text-ink"
              onClick={() => onFilter(path, jsonText(value))}
            >
              <Filter size={12} aria-hidden />
            </button>
          )}
          {onColumn && (
            <button
              type="button"
              title="Show or hide as a column"
              aria-label={`Column ${path}`}
              className="grid size-6 place-items-center rounded text-ink2 hover:bg-hover hover:text-ink"
              onClick={() => onColumn(path)}
            >
              <Columns3 size={12} aria-hidden />
            </button>
          )}
        </span>
      )}
    </li>
  );
}
