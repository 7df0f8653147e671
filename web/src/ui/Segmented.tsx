/** A segmented control: a few options side by side, one selected. */
export function Segmented<T extends string>({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: T;
  options: { value: T; label: string }[];
  onChange: (value: T) => void;
}) {
  return (
    <fieldset className="inline-flex min-w-0 max-w-full flex-wrap rounded-control border border-line bg-panel p-px">
      <legend className="sr-only">{label}</legend>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          onClick={() => onChange(option.value)}
          className="h-6 rounded-[5px] px-2 font-medium text-dense text-ink2 hover:text-ink aria-pressed:bg-bg aria-pressed:text-ink aria-pressed:shadow-[0_0_0_1px_var(--line)]"
        >
          {option.label}
        </button>
      ))}
    </fieldset>
  );
}
