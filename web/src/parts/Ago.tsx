import { useEffect, useState } from "react";
import { ago, exactTime, parseMs } from "../model/time";

/** "3 min ago" with the exact time on hover; updates itself. */
export function Ago({ at, fast }: { at: string; fast?: boolean }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), fast ? 1000 : 20_000);
    return () => clearInterval(timer);
  }, [fast]);
  return (
    <time dateTime={at} title={exactTime(at)} className="whitespace-nowrap">
      {ago(parseMs(at), Math.max(now, parseMs(at)))}
    </time>
  );
}
