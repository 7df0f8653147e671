/** A native select: works with every keyboard, screen reader and phone. */
export function Select({
  label,
  value,
  options,
  onChange,
  show,
  disabled,
}: {
  label: string;
  value: string;
  options: { value: string; label: string }[];
  onChange: (value: string) => void;
  show?: boolean;
  disabled?: boolean;
}) {
  return (
    <label className="inline-flex items-center gap-1.5 text-ink2">
      <span className={show ? "whitespace-nowrap text-dense" : "sr-only"}>{label}</span>
      <select
        className="input w-auto! max-w-48 pr-1!"
        value={value}
        disabled={disabled}
        onChange={(event) => onChange(event.target.value)}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </label>
  );
}
