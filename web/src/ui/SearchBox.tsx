import { Search, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";

interface Props {
  value: string;
  label: string;
  placeholder: string;
  onSearch: (text: string) => void;
}

/** Search field that reports its value 250 ms after the last key. `/` focuses it. */
export function SearchBox({ value, label, placeholder, onSearch }: Props) {
  const [text, setText] = useState(value);
  const sent = useRef(value);
  const report = useRef(onSearch);
  report.current = onSearch;
  useEffect(() => {
    if (value === sent.current) return;
    sent.current = value;
    setText(value);
  }, [value]);
  useEffect(() => {
    if (text === sent.current) return;
    const timer = setTimeout(() => {
      sent.current = text;
      report.current(text);
    }, 250);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <div className="relative min-w-0 shrink-0 grow basis-56 max-sm:basis-full sm:max-w-xs">
      <Search size={14} aria-hidden className="absolute top-[7px] left-2 text-ink2" />
      <input
        type="text"
        role="searchbox"
        data-search
        aria-label={label}
        placeholder={placeholder}
        className="input px-7!"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") text ? setText("") : event.currentTarget.blur();
        }}
      />
      {text && (
        <button
          type="button"
          aria-label="Clear search"
          className="absolute top-0.5 right-0.5 grid size-6 place-items-center rounded text-ink2 hover:text-ink"
          onClick={() => setText("")}
        >
          <X size={14} aria-hidden />
        </button>
      )}
    </div>
  );
}
