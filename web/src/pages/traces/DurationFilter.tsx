import { useEffect, useState } from "react";

/** Minimum and maximum duration in milliseconds; applied on blur or Enter. */
export function DurationFilter({
  min,
  max,
  onChange,
}: {
  min?: number;
  max?: number;
  onChange: (change: { min?: string; max?: string }) => void;
}) {
  return (
    <span className="inline-flex items-center gap-1 text-ink2">
      <Box
        label="Least duration in milliseconds"
        placeholder="min ms"
        value={min}
        onDone={(text) => onChange({ min: text })}
      />
      –
      <Box
        label="Most duration in milliseconds"
        placeholder="max ms"
        value={max}
        onDone={(text) => onChange({ max: text })}
      />
    </span>
  );
}

function Box({
  label,
  placeholder,
  value,
  onDone,
}: {
  label: string;
  placeholder: string;
  value?: number;
  onDone: (text: string | undefined) => void;
}) {
  const [text, setText] = useState(value === undefined ? "" : String(value));
  useEffect(() => setText(value === undefined ? "" : String(value)), [value]);
  const done = () => {
    const next = text.trim() === "" || !(Number(text) >= 0) ? undefined : text.trim();
    if (next !== (value === undefined ? undefined : String(value))) onDone(next);
  };
  return (
    <input
      inputMode="decimal"
      aria-label={label}
      placeholder={placeholder}
      className="input w-20!"
      value={text}
      onChange={(event) => setText(event.target.value)}
      onBlur={done}
      onKeyDown={(event) => event.key === "Enter" && done()}
    />
  );
}
