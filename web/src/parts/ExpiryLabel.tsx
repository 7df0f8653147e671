import { exactTime, parseMs } from "../model/time";
import { Chip } from "../ui/Chip";

/** Time until expiry: "never", "in 12 d", "ended". */
export function ExpiryLabel({ at }: { at: string | null | undefined }) {
  if (!at) return <>never</>;
  const gap = parseMs(at) - Date.now();
  if (gap <= 0) return <Chip tone="error">ended</Chip>;
  const days = Math.floor(gap / 86_400_000);
  const hours = Math.max(1, Math.floor(gap / 3_600_000));
  return (
    <time dateTime={at} title={exactTime(at)} className="whitespace-nowrap">
      {days >= 2 ? `in ${days} d` : `in ${hours} h`}
    </time>
  );
}
