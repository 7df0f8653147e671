import { useMemo } from "react";
import { browserZone, zones } from "../model/zones";
import { SelectField } from "../ui/SelectField";

/** Selects a time zone. `browser` adds the browser's zone as the empty value. */
export function ZoneSelect({
  label,
  value,
  hint,
  browser,
  disabled,
  big,
  onChange,
}: {
  label: string;
  value: string;
  hint?: string;
  browser?: boolean;
  disabled?: boolean;
  big?: boolean;
  onChange: (zone: string) => void;
}) {
  const options = useMemo(
    () => [
      ...(browser ? [{ value: "", label: `As this browser (${browserZone()})` }] : []),
      ...zones(value).map((zone) => ({ value: zone, label: zone.replaceAll("_", " ") })),
    ],
    [browser, value],
  );
  return (
    <SelectField
      label={label}
      value={value}
      options={options}
      hint={hint}
      disabled={disabled}
      big={big}
      onChange={onChange}
    />
  );
}
