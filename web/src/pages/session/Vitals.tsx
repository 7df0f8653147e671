import { clock } from "../../model/replay/timeline";
import type { Rating, ShownVital } from "../../model/replay/vitals";
import type { Replay } from "../../parts/replay/replay";
import { Chip, type Tone } from "../../ui/Chip";

const TONES: Record<Rating, Tone> = { good: "ok", "needs improvement": "warn", poor: "error" };

export function Vitals({ vitals, replay, startMs }: { vitals: ShownVital[]; replay: Replay; startMs: number }) {
  return (
    <dl className="h-full divide-y divide-line overflow-y-auto">
      {vitals.map(({ name, label, text, rating, at }) => (
        <div key={name} className="flex items-center gap-3 px-3 py-2.5">
          <dt className="min-w-0 flex-1">
            {label} <span className="text-ink2">({name})</span>
          </dt>
          <dd className="font-semibold">{text}</dd>
          <dd>
            <Chip tone={TONES[rating]}>{rating}</Chip>
          </dd>
          <dd className="w-14 text-right">
            {at !== null && (
              <button type="button" className="link font-mono text-dense" onClick={() => replay.seek(at - startMs)}>
                {clock(at - startMs)}
              </button>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}
