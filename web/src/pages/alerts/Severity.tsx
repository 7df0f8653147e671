import { BellRing, CircleCheck } from "lucide-react";
import type { NotificationRow, RuleSeverity } from "../../api/rules";
import { Chip, type Tone } from "../../ui/Chip";

const TONES: Record<RuleSeverity, Tone> = { critical: "error", warning: "warn", info: "plain" };

export function SeverityChip({ severity }: { severity: RuleSeverity }) {
  return <Chip tone={TONES[severity]}>{severity}</Chip>;
}

/** Whether an alert fires, ended, or fired once. */
export function StatusChip({ row }: { row: Pick<NotificationRow, "status" | "open"> }) {
  if (row.status === "resolved")
    return (
      <Chip tone="ok" icon={<CircleCheck size={12} aria-hidden />}>
        resolved
      </Chip>
    );
  return (
    <Chip tone={row.open ? "error" : "plain"} icon={<BellRing size={12} aria-hidden />}>
      {row.open ? "firing" : "fired"}
    </Chip>
  );
}
