// Attribute filters as chips: type `key=value` and Enter.
import { Plus, X } from "lucide-react";
import { useId, useState } from "react";
import { type AttributeFilter, parseFilters } from "../model/search";

export function FilterInput({
  filters,
  onChange,
  label = "Attribute filter",
}: {
  filters: AttributeFilter[];
  onChange: (filters: AttributeFilter[]) => void;
  label?: string;
}) {
  const [text, setText] = useState("");
  const [isWrong, setWrong] = useState(false);
  const id = useId();
  const [next] = parseFilters(text.replaceAll("\n", " "));
  return (
    <form
      className="flex min-w-0 max-w-full shrink-0 flex-wrap items-center gap-1"
      onSubmit={(event) => {
        event.preventDefault();
        if (!next) return setWrong(text.trim() !== "");
        onChange([...filters.filter((one) => one.key !== next.key || one.value !== next.value), next]);
        setText("");
      }}
    >
      {filters.map((filter) => (
        <span key={`${filter.key}=${filter.value}`} className="chip chip-accent h-6! max-w-72">
          <span className="truncate font-mono">
            {filter.key}={filter.value}
          </span>
          <button
            type="button"
            aria-label={`Remove the filter ${filter.key}=${filter.value}`}
            className="grid size-6 place-items-center"
            onClick={() => onChange(filters.filter((one) => one !== filter))}
          >
            <X size={12} aria-hidden />
          </button>
        </span>
      ))}
      <input
        aria-label={`${label}, as key=value`}
        className="input w-44! font-mono text-dense!"
        placeholder="key=value"
        value={text}
        aria-invalid={isWrong || undefined}
        aria-describedby={isWrong ? id : undefined}
        onChange={(event) => {
          setText(event.target.value);
          setWrong(false);
        }}
        onBlur={() => setWrong(text.trim() !== "" && !next)}
      />
      {text && (
        <button type="submit" className="btn btn-icon" aria-label="Add the filter">
          <Plus size={14} aria-hidden />
        </button>
      )}
      {isWrong && (
        <span id={id} role="alert" className="basis-full text-dense text-error">
          Not a filter, so nothing is filtered by it: write key=value, for example http.route=/cart.
        </span>
      )}
    </form>
  );
}
