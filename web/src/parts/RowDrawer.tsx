// The summary of one row of a list, beside the list; on phones over it. Enter on a row opens it, [ and ] go to the rows
// before and after, Escape closes it. The open row is in the URL (`sel`).
import { useNavigate, useSearch } from "@tanstack/react-router";
import { ChevronLeft, ChevronRight, X } from "lucide-react";
import { type ReactNode, useEffect, useRef } from "react";
import { moveRow, shortcutsOn, useKeys } from "../ui/keys";

interface Props<Row> {
  rows: readonly Row[];
  /** Equals `data-key` of the row in the list. */
  rowKey: (row: Row) => string;
  /** Noun of a row: "endpoint". */
  what: string;
  title: (row: Row) => ReactNode;
  /** Link to the page of the row. */
  page: (row: Row) => ReactNode;
  children: (row: Row) => ReactNode;
}

/** Key of the row whose drawer is open. */
export function useOpenRow(): string | undefined {
  return useSearch({ strict: false, select: (search) => (search as { sel?: string }).sel });
}

/** Class of an open row. */
export const OPEN_ROW = "outline-2 -outline-offset-2 outline-accent";

function linkOf(key: string): HTMLElement | null {
  const row = document.querySelector(`main [data-key="${CSS.escape(key)}"]`);
  return row?.querySelector<HTMLElement>("[data-row-link]") ?? null;
}

export function RowDrawer<Row>({ rows, rowKey, what, title, page, children }: Props<Row>) {
  const sel = useOpenRow();
  const navigate = useNavigate();
  const head = useRef<HTMLHeadingElement>(null);
  const panel = useRef<HTMLElement>(null);
  const keys = rows.map(rowKey);
  const place = sel === undefined ? -1 : keys.indexOf(sel);
  const row = rows[place];
  const select = (key: string | undefined, replace: boolean) =>
    void navigate({ to: ".", search: (old: object) => ({ ...old, sel: key }), replace } as never);
  const close = () => {
    select(undefined, true);
    if (sel !== undefined) linkOf(sel)?.focus();
  };
  const step = (by: 1 | -1) => {
    const next = keys[place + by];
    if (next === undefined) return;
    select(next, true);
    linkOf(next)?.scrollIntoView({ block: "nearest" });
  };
  useKeys(row ? { "[": () => step(-1), "]": () => step(1), Escape: close } : {});
  useListKeys(keys, (key) => select(key, false));
  // A drawer that opens takes the focus; another row keeps it, at the top.
  const isOpen = !!row;
  useEffect(() => {
    if (isOpen) head.current?.focus({ preventScroll: true });
  }, [isOpen]);
  useEffect(() => {
    if (sel !== undefined && panel.current) panel.current.scrollTop = 0;
  }, [sel]);
  if (!row) return null;
  return (
    <aside
      ref={panel}
      data-drawer
      aria-label={`Summary of the ${what}`}
      className="appear fixed inset-0 z-30 overflow-y-auto border-line bg-bg sm:top-11 sm:left-auto sm:w-[min(600px,calc(100vw-64px))] sm:border-l sm:shadow-(--shadow)"
    >
      <div className="sticky top-0 z-10 flex items-start gap-1 border-line border-b bg-bg px-4 py-2.5">
        <h2
          ref={head}
          tabIndex={-1}
          className="min-w-0 flex-1 font-semibold text-section [overflow-wrap:anywhere] focus:outline-none"
        >
          {title(row)}
        </h2>
        <Step by={-1} what={what} disabled={place === 0} onStep={step} />
        <Step by={1} what={what} disabled={place === keys.length - 1} onStep={step} />
        <button type="button" className="btn btn-ghost btn-icon" aria-label="Close (Esc)" title="Close" onClick={close}>
          <X size={16} aria-hidden />
        </button>
      </div>
      <div className="space-y-4 px-4 py-3">
        <p className="flex flex-wrap items-center gap-x-3">
          {page(row)}
          <span className="text-dense text-ink2">
            {place + 1} of {keys.length} on this page
          </span>
        </p>
        {children(row)}
      </div>
    </aside>
  );
}

function Step({
  by,
  what,
  disabled,
  onStep,
}: {
  by: 1 | -1;
  what: string;
  disabled: boolean;
  onStep: (by: 1 | -1) => void;
}) {
  const words = by < 0 ? `Previous ${what}` : `Next ${what}`;
  return (
    <button
      type="button"
      className="btn btn-ghost btn-icon"
      aria-label={`${words} (${by < 0 ? "[" : "]"})`}
      title={words}
      // A disabled button would lose the focus.
      aria-disabled={disabled}
      onClick={() => onStep(by)}
    >
      {by < 0 ? <ChevronLeft size={16} aria-hidden /> : <ChevronRight size={16} aria-hidden />}
    </button>
  );
}

/** Enter on a row's link opens the drawer; with a modifier the browser follows the link. Arrows move between rows. */
function useListKeys(keys: string[], open: (key: string) => void): void {
  const current = useRef({ keys, open });
  current.current = { keys, open };
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey || event.shiftKey) return;
      if (!shortcutsOn() || !(event.target instanceof Element)) return;
      const key = event.target.closest("[data-row-link]")?.closest("[data-key]")?.getAttribute("data-key");
      if (key === null || key === undefined || !current.current.keys.includes(key)) return;
      if (event.key === "Enter") current.current.open(key);
      else if (event.key === "ArrowDown") moveRow(1);
      else if (event.key === "ArrowUp") moveRow(-1);
      else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, []);
}
