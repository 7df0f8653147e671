// Chips beside a name that mark special rows.
import { CircleHelp, Radio, Unlink, Waypoints } from "lucide-react";
import type { EndpointGroup, ImpactLevel } from "../model/types";
import { isJunkName, UNMATCHED } from "../model/words";
import { Chip, type Tone } from "../ui/Chip";

export function NonRootChip({ some }: { some?: boolean }) {
  return (
    <Chip
      icon={<Waypoints size={11} aria-hidden />}
      tip={
        some
          ? "Some of these runs were triggered by another service or request."
          : "Triggered by another service or request: it has a parent in a larger trace."
      }
    >
      {some ? "Partly non-root" : "Non-root"}
    </Chip>
  );
}

export function EndpointChips({ row }: { row: EndpointGroup }) {
  return (
    <>
      {row.endpoint === UNMATCHED && (
        <Chip
          tone="warn"
          icon={<Unlink size={11} aria-hidden />}
          tip="Requests answered 404 without a route: bots and wrong links. Left out of client-error impact."
        >
          no route
        </Chip>
      )}
      {isJunkName(row.endpoint) && (
        <Chip
          tone="warn"
          icon={<CircleHelp size={11} aria-hidden />}
          tip="The span carried no HTTP method: usually middleware exported apart from its request. Status is unknown."
        >
          no method
        </Chip>
      )}
      {row.streamCount > 0 && (
        <Chip
          icon={<Radio size={11} aria-hidden />}
          tip="Answers stay open (SSE, WebSocket): their length is left out of latency and Apdex."
        >
          {row.streamCount >= row.count ? "Streaming" : "Partly streaming"}
        </Chip>
      )}
      {row.hasNonRoot && <NonRootChip some={row.hasRoot} />}
    </>
  );
}

const IMPACT: Record<ImpactLevel, { tone: Tone; word: string; bars: number }> = {
  critical: { tone: "error", word: "Critical", bars: 4 },
  high: { tone: "warn", word: "High", bars: 3 },
  medium: { tone: "accent", word: "Medium", bars: 2 },
  good: { tone: "ok", word: "Good", bars: 1 },
};

/** Impact level as word, colour and shape, with the reason. */
export function ImpactChip({ level, reason, value }: { level: ImpactLevel; reason: string; value: number }) {
  const look = IMPACT[level] ?? IMPACT.good;
  return (
    <Chip
      tone={look.tone}
      tip={`Impact ${value.toFixed(2)} of 1${reason ? `: ${reason}` : ""}`}
      icon={<Bars filled={look.bars} />}
    >
      {look.word}
    </Chip>
  );
}

function Bars({ filled }: { filled: number }) {
  return (
    <svg width="11" height="10" viewBox="0 0 11 10" aria-hidden>
      {[0, 1, 2, 3].map((i) => (
        <rect
          key={i}
          x={i * 3}
          y={7 - i * 2.2}
          width="2"
          height={3 + i * 2.2}
          rx="0.6"
          fill="currentColor"
          fillOpacity={i < filled ? 1 : 0.3}
        />
      ))}
    </svg>
  );
}

/** HTTP status with a colour, and the name of its class for screen readers. */
export function StatusCode({ code }: { code: number }) {
  if (!code) return <span className="text-ink2">–</span>;
  const tone: Tone = code >= 500 ? "error" : code >= 400 ? "warn" : code >= 300 ? "plain" : "ok";
  return <Chip tone={tone}>{code}</Chip>;
}
