// Chips of one AI trace: its flags, and the terms of the word lists in it.
import { Link } from "@tanstack/react-router";
import { Flag } from "lucide-react";
import { useProjectId } from "../../api/hooks";
import { FLAGS } from "../../model/ai";
import { termOf } from "../../model/query";
import type { AiFlag } from "../../model/types";
import { Chip } from "../../ui/Chip";

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
