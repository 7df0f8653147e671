import { type ReactNode, useId } from "react";

/** A multi-line field with label, hint and error, like Field. */
export function TextArea({
  label,
  value,
  rows,
  hint,
  error,
  disabled,
  onText,
}: {
  label: string;
  value: string;
  rows: number;
  hint?: ReactNode;
  error?: string | null;
  disabled?: boolean;
  onText: (text: string) => void;
}) {
  const id = useId();
  const note = error || hint;
  return (
    <div>
      <label htmlFor={id} className="mb-1 block font-medium">
        {label}
      </label>
      <textarea
        id={id}
        rows={rows}
        spellCheck={false}
        className="input h-auto! py-1.5! font-mono"
        value={value}
        disabled={disabled}
        aria-invalid={error ? true : undefined}
        aria-describedby={note ? `${id}-note` : undefined}
        onChange={(event) => onText(event.target.value)}
      />
      {note && (
        <p id={`${id}-note`} className={`mt-1 text-dense ${error ? "text-error" : "text-ink2"}`}>
          {note}
        </p>
      )}
    </div>
  );
}
