// Cells that the lists of names, conversations and users share.
import { Link } from "@tanstack/react-router";
import { Flag } from "lucide-react";
import type { ReactNode } from "react";
import { useProjectId } from "../../api/hooks";
import { count } from "../../model/format";
import type { AiSearch } from "../../model/telemetry-search";
import { Chip } from "../../ui/Chip";
import { RowLink } from "../../ui/RowLink";
import { Tip } from "../../ui/Tip";

/** Number of AI traces of a group with a flag; nothing without any. */
export function FlaggedChip({ count: flagged }: { count: number }) {
  if (!flagged) return null;
  return (
    <Chip
      tone="warn"
      icon={<Flag size={11} aria-hidden />}
      tip="Cut off, filtered, refused or empty answers, failed runs of tools, and flagged content."
    >
      {count(flagged)} flagged
    </Chip>
  );
}

/** The value of a group as a link to its rows on the page of AI traces. */
export function GroupLink({ search, label, children }: { search: AiSearch; label: string; children?: ReactNode }) {
  const pid = useProjectId();
  return (
    <div className="name-cell">
      <RowLink name={label} link={(props) => <Link to="/p/$pid/ai" params={{ pid }} search={search} {...props} />} />
      {children && <span className="over-row flex flex-wrap gap-1">{children}</span>}
    </div>
  );
}

interface Tokens {
  inputTokens: number | null;
  outputTokens: number | null;
  cachedTokens: number | null;
  reasoningTokens: number | null;
}

/** "1,200 / 300", with the cached tokens and those of reasoning in the tooltip. */
export function TokenKinds({ of }: { of: Tokens }) {
  const words = [
    of.cachedTokens !== null && `${count(of.cachedTokens)} of the input cached`,
    of.reasoningTokens !== null && `${count(of.reasoningTokens)} of the output for reasoning`,
  ].filter(Boolean);
  const text = `${count(of.inputTokens)} / ${count(of.outputTokens)}`;
  if (!words.length) return text;
  return (
    <Tip text={words.join(", ")}>
      <span className="over-row">{text}</span>
    </Tip>
  );
}
