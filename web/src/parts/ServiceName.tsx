import { brief, NONE } from "../model/format";
import { slotColour } from "../viz/palette";
import { useServiceColours } from "../viz/useServiceColours";

/** The name of a service with its colour. */
export function ServiceName({ name }: { name: string }) {
  const colourOf = useServiceColours([name]);
  if (!name) return <span>{NONE}</span>;
  return (
    <span className="inline-flex min-w-0 max-w-full items-center gap-1.5" title={name}>
      <span
        aria-hidden
        data-service={name}
        className="size-2.5 shrink-0 rounded-[2px]"
        style={{ background: slotColour(colourOf(name)) }}
      />
      <span className="truncate">{brief(name, 40)}</span>
    </span>
  );
}
