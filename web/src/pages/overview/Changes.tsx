// Changes for the worse, one sentence each, the most harmful first. The words are the server's.
import { Link } from "@tanstack/react-router";
import { TrendingUp } from "lucide-react";
import { useProjectId } from "../../api/hooks";
import { useRange } from "../../api/range";
import { brief, count } from "../../model/format";
import { valuesText } from "../../model/global-filter";
import { changeSentence } from "../../model/open-changes";
import type { ChangeCard } from "../../model/types";
import { Ago } from "../../parts/Ago";
import { SUBJECT_PAGES, useChangesQuery, useChangeTimes, useWhy } from "../../parts/OpenChange";
import { Section } from "../../parts/Page";
import { QueryView, SkeletonRows } from "../../parts/states";

export function ChangesSection() {
  const query = useChangesQuery();
  return (
    <Section title="What changed for the worse" flush>
      <QueryView query={query} skeleton={<SkeletonRows rows={2} />}>
        {({ data, checked, quiet }) =>
          data.length ? (
            <ul aria-label="What changed for the worse">
              {data.map((card) => (
                <Change key={`${card.kind} ${card.exceptionHash ?? card.name}`} card={card} />
              ))}
            </ul>
          ) : (
            <p className="px-3 py-3 text-ink2">{nothing(checked, quiet)}</p>
          )
        }
      </QueryView>
    </Section>
  );
}

function nothing(checked: number, quiet: number): string {
  if (!checked) return "Nothing to check yet: no requests, task runs or AI calls in the last 24 hours.";
  const few = quiet ? `, ${count(quiet)} too quiet to judge` : "";
  return `Nothing got worse in the last 24 h (${count(checked)} ${checked === 1 ? "subject" : "subjects"} checked${few}).`;
}

function Change({ card }: { card: ChangeCard }) {
  const open = !card.recovered;
  // The sentence begins with the name, which is the link; an Issue's does not.
  const { span } = useRange();
  const sentence = changeSentence(card, span.toMs);
  const starts = sentence.startsWith(card.name);
  return (
    <li className="border-line border-b px-3 py-2.5 last:border-b-0 hover:bg-hover">
      <div className="flex gap-2.5">
        <TrendingUp size={16} aria-hidden className={`mt-0.5 shrink-0 ${open ? "text-error" : "text-ink2"}`} />
        <div className="min-w-0">
          <p className={`[overflow-wrap:anywhere] ${open ? "" : "text-ink2"}`}>
            <Subject card={card} text={brief(starts ? card.name : sentence, starts ? 160 : 500)} />
            {starts && sentence.slice(card.name.length)}
          </p>
          <p className="mt-0.5 text-caption text-ink2">
            {card.service && `${card.service} · `}
            {open ? "began " : "recovered "}
            <Ago at={card.recovered ?? card.since} />
            <Why card={card} />
          </p>
        </div>
      </div>
    </li>
  );
}

/** Opens the subject's page with the explanation of the rows that got worse. */
function Why({ card }: { card: ChangeCard }) {
  const pid = useProjectId();
  const why = useWhy(card);
  if (!why || card.kind === "issue" || card.kind === "service") return null;
  return (
    <>
      {" · "}
      <Link
        to={SUBJECT_PAGES[card.kind]}
        params={{ pid, name: card.name }}
        search={why as never}
        className="link"
        aria-label={`Why? ${card.name}`}
      >
        Why?
      </Link>
    </>
  );
}

/** Opens the subject's page at the time of the change. */
function Subject({ card, text }: { card: ChangeCard; text: string }) {
  const pid = useProjectId();
  const times = useChangeTimes(card);
  const search = times as never;
  const className = "font-medium link [overflow-wrap:anywhere]";
  if (card.kind === "issue")
    return (
      <Link
        to="/p/$pid/issues/$hash"
        params={{ pid, hash: card.exceptionHash ?? "" }}
        search={search}
        className={className}
      >
        {text}
      </Link>
    );
  if (card.kind === "service")
    return (
      <Link
        to="/p/$pid/traces"
        params={{ pid }}
        search={{ ...times, service: valuesText(card.service ? [card.service] : []) } as never}
        className={className}
      >
        {text}
      </Link>
    );
  return (
    <Link to={SUBJECT_PAGES[card.kind]} params={{ pid, name: card.name }} search={search} className={className}>
      {text}
    </Link>
  );
}
