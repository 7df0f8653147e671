import { CircleAlert, OctagonX, TriangleAlert } from "lucide-react";
import { type Severity, severity } from "../model/words";

const COLOUR: Record<Severity, string> = {
  FATAL: "text-error font-semibold",
  ERROR: "text-error",
  WARN: "text-warn",
  INFO: "text-accent",
  DEBUG: "text-ink2",
  TRACE: "text-ink2",
  UNSET: "text-ink2",
};
export const SEVERITY_BAR: Record<Severity, string> = {
  FATAL: "var(--c3)",
  ERROR: "var(--error)",
  WARN: "var(--warn)",
  INFO: "var(--accent)",
  DEBUG: "var(--control)",
  TRACE: "color-mix(in srgb, var(--control) 60%, var(--bg))",
  UNSET: "color-mix(in srgb, var(--control) 35%, var(--bg))",
};

/** Severity as word, colour and, from WARN upwards, shape. */
export function SeverityMark({ text, number }: { text: string; number: number }) {
  const level = severity(text, number);
  const Icon = level === "FATAL" ? OctagonX : level === "ERROR" ? CircleAlert : level === "WARN" ? TriangleAlert : null;
  return (
    <span className={`inline-flex items-center gap-1 font-mono text-dense ${COLOUR[level]}`}>
      {Icon ? <Icon size={12} aria-hidden /> : <span className="w-3" />}
      {level === "UNSET" ? "–" : level}
    </span>
  );
}
