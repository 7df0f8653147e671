// Severity and status of incidents as words with a colour.
import { CircleAlert, CircleCheck, Info, TriangleAlert } from "lucide-react";
import type { Tone } from "../../ui/Chip";
import { Chip } from "../../ui/Chip";

export const SEVERITIES = [
  { value: "critical", label: "Critical" },
  { value: "warning", label: "Warning" },
  { value: "info", label: "Info" },
];

export const STATUSES = [
  { value: "investigating", label: "Investigating" },
  { value: "identified", label: "Identified" },
  { value: "monitoring", label: "Monitoring" },
  { value: "resolved", label: "Resolved" },
];

export function SeverityChip({ severity }: { severity: string }) {
  const [tone, Icon]: [Tone, typeof Info] =
    severity === "critical"
      ? ["error", CircleAlert]
      : severity === "warning"
        ? ["warn", TriangleAlert]
        : ["plain", Info];
  const label = SEVERITIES.find((one) => one.value === severity)?.label ?? severity;
  return (
    <Chip tone={tone} icon={<Icon size={12} aria-hidden />}>
      {label}
    </Chip>
  );
}

export function StatusChip({ status }: { status: string }) {
  const isOver = status === "resolved";
  const label = STATUSES.find((one) => one.value === status)?.label ?? status;
  return (
    <Chip tone={isOver ? "ok" : "accent"} icon={isOver ? <CircleCheck size={12} aria-hidden /> : undefined}>
      {label}
    </Chip>
  );
}
