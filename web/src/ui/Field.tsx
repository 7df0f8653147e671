import { type ComponentProps, type ReactNode, useId } from "react";

interface Props extends Omit<ComponentProps<"input">, "onChange"> {
  label: string;
  hint?: ReactNode;
  error?: string | null;
  big?: boolean;
  onText: (text: string) => void;
}

/** Label, input, hint and error, tied together for screen readers. */
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

/** As `ref` of the field that a step starts with; one function, so that it runs when the field appears and never again. */
export function focusHere(input: HTMLInputElement | null): void {
  input?.focus();
}
