// Cells that the lists of AI traces, conversations and users share.
import { Link } from "@tanstack/react-router";
import { Flag } from "lucide-react";
import type { ReactNode } from "react";
import { useProjectId } from "../../api/hooks";
import type { AiFlag } from "../../api/types";
import { FLAGS } from "../../model/ai";
import { count } from "../../model/format";
import { termOf } from "../../model/query";
import type { AiSearch } from "../../routes/telemetry";
import { Chip } from "../../ui/Chip";
import { Tip } from "../../ui/Tip";

/** The flags of one AI trace. */
export function FlagChips({ flags }: { flags: AiFlag[] }) {
  return flags.map((flag) => (
    <Chip key={flag} tone={FLAGS[flag].tone} icon={<Flag size={11} aria-hidden />} tip={FLAGS[flag].tip}>
      {FLAGS[flag].word}
    </Chip>
  ));
}

/** The terms of the word lists in one conversation, as links to the AI traces with each. */
export function TermChips({ terms }: { terms: string[] }) {
  const pid = useProjectId();
  return terms.map((term) => (
    <Link
      key={term}
      to="/p/$pid/ai"
      params={{ pid }}
      search={{ q: termOf("flagged_term", term), calls: "all" }}
      title={`AI traces with “${term}”`}
      className="rounded-full border border-line px-2 text-caption hover:bg-hover"
    >
      {term}
    </Link>
  ));
}

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
    <div className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-0.5">
      <Link
        to="/p/$pid/ai"
        params={{ pid }}
        search={search}
        data-row-link
        className="row-link font-medium [overflow-wrap:anywhere]"
      >
        {label}
      </Link>
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
