import type { ReactNode } from "react";
import { Tip } from "./Tip";

export type Tone = "plain" | "error" | "warn" | "ok" | "accent";

export function Chip({
  tone = "plain",
  icon,
  tip,
  children,
}: {
  tone?: Tone;
  icon?: ReactNode;
  tip?: string;
  children: ReactNode;
}) {
  const chip = (
    <span className={`chip ${tone === "plain" ? "" : `chip-${tone}`}`}>
      {icon}
      {children}
    </span>
  );
  return tip ? <Tip text={tip}>{chip}</Tip> : chip;
}
