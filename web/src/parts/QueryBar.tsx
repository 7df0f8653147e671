// The field of the query language: completion of fields and values, earlier queries, terms as chips, and the place of
// an error. The query in effect is that of the URL; Enter, a chosen value and leaving the field apply what was typed.
import { Autocomplete } from "@base-ui/react/autocomplete";
import { Search, X } from "lucide-react";
import { useEffect, useId, useRef, useState } from "react";
import { ApiError } from "../api/client";
import { usePost } from "../api/hooks";
import { useRange } from "../api/range";
import { count } from "../model/format";
import { completed, offsetOfByte, remembered, terms, typedAt, withoutTerm } from "../model/query";
import type { QueryRows } from "../model/types";

interface Props {
  rows: QueryRows;
  /** The query in effect. */
  value: string;
  label: string;
  placeholder: string;
  /** Error of the list that the query is for. */
  error?: unknown;
  onSearch: (query: string) => void;
}

/** A line of the menu; `query` is the text of the field once it is chosen. */
interface Choice {
  query: string;
  caret: number;
  label: string;
  about: string;
  /** The query is whole: it is applied. */
  applies: boolean;
}

export function QueryBar({ rows, value, label, placeholder, error, onSearch }: Props) {
  const [text, setText] = useState(value);
  const [caret, setCaret] = useState(value.length);
  const [isOpen, setOpen] = useState(false);
  const [isFocused, setFocused] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const placed = useRef<number | null>(null);
  const highlighted = useRef(false);
  const errorId = useId();
  useEffect(() => {
    setText(value);
    setCaret(value.length);
  }, [value]);
  useEffect(() => {
    if (placed.current === null) return;
    input.current?.setSelectionRange(placed.current, placed.current);
    placed.current = null;
  });
  const [history, remember] = useHistory(rows);
  const choices = useChoices(rows, text, caret, isFocused, history);
  const apply = (query: string) => {
    const trimmed = query.trim();
    setText(trimmed);
    remember(trimmed);
    if (trimmed !== value) onSearch(trimmed);
  };
  const choose = (choice: Choice) => {
    setText(choice.query);
    setCaret(choice.caret);
    placed.current = choice.caret;
    setOpen(!choice.applies);
    if (choice.applies) apply(choice.query);
  };
  const fault = faultOf(error, value);
  const isShown = isOpen && choices.length > 0;
  return (
    <div className="flex min-w-0 grow basis-96 flex-col gap-1 max-sm:basis-full">
      <Autocomplete.Root<Choice>
        items={choices}
        mode="none"
        // Not in the library's popup: it hides the rest of the page from assistive technology while it is open.
        inline
        open
        value={text}
        itemToStringValue={(choice) => choice.query}
        onItemHighlighted={(choice) => {
          highlighted.current = choice !== undefined;
        }}
        onValueChange={(next, details) => {
          if (details.reason !== "input-change") return;
          setText(next);
          setCaret(input.current?.selectionStart ?? next.length);
          setOpen(true);
        }}
      >
        <div className="relative">
          <Search size={14} aria-hidden className="absolute top-[7px] left-2 text-ink2" />
          <Autocomplete.Input
            ref={input}
            data-search
            aria-label={label}
            aria-expanded={isShown}
            aria-invalid={fault ? true : undefined}
            aria-describedby={fault ? errorId : undefined}
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            maxLength={4096}
            placeholder={placeholder}
            className="input px-7! font-mono text-dense! [font-variant-ligatures:none]"
            onFocus={() => setFocused(true)}
            onClick={() => setOpen(true)}
            onBlur={() => {
              setFocused(false);
              setOpen(false);
              apply(text);
            }}
            onSelect={(event) => setCaret(event.currentTarget.selectionStart ?? 0)}
            onKeyDown={(event) => {
              if (event.key === "ArrowDown") setOpen(true);
              if (event.key === "Escape" && isShown) {
                event.stopPropagation();
                setOpen(false);
              }
              if (event.key !== "Enter" || (isShown && highlighted.current)) return;
              event.preventDefault();
              setOpen(false);
              apply(text);
            }}
          />
          {text && (
            <button
              type="button"
              aria-label="Clear the query"
              className="absolute top-0.5 right-0.5 grid size-6 place-items-center rounded text-ink2 hover:text-ink"
              onClick={() => apply("")}
            >
              <X size={14} aria-hidden />
            </button>
          )}
          {isShown && (
            <Autocomplete.List
              aria-label="Completions"
              className="menu absolute top-full right-0 left-0 z-40 mt-1 max-h-80 overflow-auto"
              // The field keeps the focus.
              onMouseDown={(event) => event.preventDefault()}
            >
              {(choice: Choice) => (
                <Autocomplete.Item
                  key={choice.label}
                  value={choice}
                  className="menu-item"
                  onClick={() => choose(choice)}
                >
                  <span className="min-w-0 flex-1 truncate font-mono text-dense">{choice.label}</span>
                  <span className="max-w-1/2 shrink-0 truncate text-caption text-ink2">{choice.about}</span>
                </Autocomplete.Item>
              )}
            </Autocomplete.List>
          )}
        </div>
      </Autocomplete.Root>
      {fault && (
        <p id={errorId} role="alert" className="text-dense text-error [overflow-wrap:anywhere]">
          {fault.message}:{" "}
          <code className="font-mono text-ink [font-variant-ligatures:none]">
            {fault.before}
            <mark className="rounded-sm bg-errorsoft px-0.5 text-error underline">{fault.rest || " "}</mark>
          </code>
        </p>
      )}
      <Terms query={value} onChange={onSearch} />
    </div>
  );
}

/** The terms of a query, each with a button that removes it. */
function Terms({ query, onChange }: { query: string; onChange: (query: string) => void }) {
  const all = terms(query);
  if (all.length === 0) return null;
  return (
    <ul aria-label="Conditions" className="flex min-w-0 flex-wrap gap-1">
      {all.map((term, i) => (
        <li key={`${term.from} ${term.text}`} className="chip chip-accent h-6! max-w-full">
          <span className="truncate font-mono [font-variant-ligatures:none]">{term.text}</span>
          <button
            type="button"
            aria-label={`Remove the condition ${term.text}`}
            className="grid size-6 shrink-0 place-items-center"
            onClick={() => onChange(withoutTerm(query, i))}
          >
            <X size={12} aria-hidden />
          </button>
        </li>
      ))}
    </ul>
  );
}

/** The message of a wrong query, and the query divided at the fault. */
function faultOf(error: unknown, query: string) {
  if (!(error instanceof ApiError) || error.position === null) return null;
  const at = offsetOfByte(query, error.position);
  return {
    message: error.message.replace(/^the query is wrong at position \d+: /, ""),
    before: query.slice(0, at),
    rest: query.slice(at),
  };
}

function useChoices(rows: QueryRows, text: string, caret: number, isFocused: boolean, history: string[]): Choice[] {
  const { body } = useRange();
  const typed = typedAt(text, caret);
  const wanted = JSON.stringify([typed.field, typed.prefix]);
  const [settled, setSettled] = useState(wanted);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(wanted), 100);
    return () => clearTimeout(timer);
  }, [wanted]);
  const [field, prefix] = JSON.parse(settled) as [string | null, string];
  const answer = usePost("/api/query/complete", { ...body, rows, field, prefix }, { enabled: isFocused });
  const earlier = text.trim() === "" ? history : [];
  const choices = earlier.map((query) => ({
    query,
    caret: query.length,
    label: query,
    about: "earlier",
    applies: true,
  }));
  // The answer to what was typed before would complete another word.
  const isCurrent = settled === wanted && !answer.isPlaceholderData;
  const mark = answer.data?.estimated ? "≈ " : "";
  for (const one of isCurrent ? (answer.data?.data ?? []) : []) {
    const done = completed(text, typed, one.text);
    if (typed.field !== null && one.text === typed.prefix) continue;
    const about = one.doc ?? (one.count === null ? "" : `${mark}${count(one.count)}`);
    choices.push({ ...done, label: one.text, about, applies: typed.field !== null });
  }
  return choices;
}

/** The latest queries of a kind of rows, kept in this browser. */
function useHistory(rows: QueryRows): [string[], (query: string) => void] {
  const key = `tidewatch.queries.${rows}`;
  const [history, setHistory] = useState<string[]>(() => stored(key));
  const remember = (query: string) => {
    const next = remembered(stored(key), query);
    setHistory(next);
    try {
      localStorage.setItem(key, JSON.stringify(next));
    } catch {
      // A browser that stores nothing has no history.
    }
  };
  return [history, remember];
}

function stored(key: string): string[] {
  try {
    const all: unknown = JSON.parse(localStorage.getItem(key) ?? "[]");
    return Array.isArray(all) ? all.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}
