import { Switch as Base } from "@base-ui/react/switch";
import { useId } from "react";

export function Switch({
  label,
  hint,
  checked,
  disabled,
  onChange,
}: {
  label: string;
  hint?: string;
  checked: boolean;
  disabled?: boolean;
  onChange: (on: boolean) => void;
}) {
  const id = useId();
  return (
    <div className="flex items-start gap-3">
      <Base.Root
        id={id}
        checked={checked}
        disabled={disabled}
        onCheckedChange={onChange}
        aria-describedby={hint ? `${id}-hint` : undefined}
        className="mt-0.5 inline-flex h-5 w-9 shrink-0 items-center rounded-full border border-control bg-panel p-0.5 transition-colors data-[disabled]:opacity-60 data-[checked]:border-accent data-[checked]:bg-accent"
      >
        <Base.Thumb className="size-3.5 rounded-full bg-control transition-transform data-[checked]:translate-x-4 data-[checked]:bg-onaccent" />
      </Base.Root>
      <div>
        <label htmlFor={id} className="font-medium">
          {label}
        </label>
        {hint && (
          <p id={`${id}-hint`} className="text-dense text-ink2">
            {hint}
          </p>
        )}
      </div>
    </div>
  );
}
