import { type ComponentProps, type ReactNode, useId } from "react";

interface Props extends Omit<ComponentProps<"input">, "onChange"> {
  label: string;
  hint?: ReactNode;
  error?: string | null;
  big?: boolean;
  onText: (text: string) => void;
}

/** Label, input, hint and error, associated for screen readers. */
export function Field({ label, hint, error, big, onText, ...input }: Props) {
  const id = useId();
  const note = error || hint;
  return (
    <div>
      <label htmlFor={id} className="mb-1 block font-medium">
        {label}
      </label>
      <input
        id={id}
        className={`input ${big ? "input-big" : ""}`}
        aria-invalid={error ? true : undefined}
        aria-describedby={note ? `${id}-note` : undefined}
        onChange={(event) => onText(event.target.value)}
        {...input}
      />
      {note && (
        <p id={`${id}-note`} className={`mt-1 text-dense ${error ? "text-error" : "text-ink2"}`}>
          {note}
        </p>
      )}
    </div>
  );
}

/** `ref` that focuses the first field of a step. A stable function, so that it runs only on mount. */
export function focusHere(input: HTMLInputElement | null): void {
  input?.focus();
}
