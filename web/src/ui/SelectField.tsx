import { type ReactNode, useId } from "react";

/** A native select with a label above, like Field. */
export function SelectField({
  label,
  value,
  options,
  hint,
  big,
  disabled,
  onChange,
}: {
  label: string;
  value: string;
  options: { value: string; label: string }[];
  hint?: ReactNode;
  big?: boolean;
  disabled?: boolean;
  onChange: (value: string) => void;
}) {
  const id = useId();
  return (
    <div className="min-w-0">
      <label htmlFor={id} className="mb-1 block font-medium">
        {label}
      </label>
      <select
        id={id}
        className={`input pr-1! ${big ? "input-big" : ""}`}
        value={value}
        disabled={disabled}
        aria-describedby={hint ? `${id}-note` : undefined}
        onChange={(event) => onChange(event.target.value)}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
      {hint && (
        <p id={`${id}-note`} className="mt-1 text-dense text-ink2">
          {hint}
        </p>
      )}
    </div>
  );
}
