// Answers of the Overview: problems that stay, new ones, and the cost of AI.
import { Link } from "@tanstack/react-router";
import { usePost, useProjectId } from "../../api/hooks";
import { useRange } from "../../api/range";
import { changeWords } from "../../model/compare";
import { brief, count, percent, plural, usd } from "../../model/format";
import { valuesText } from "../../model/global-filter";
import { clockMinutes, dayMonth, exactTime, parseMs } from "../../model/time";
import type { AiSpendOf, Answers, NewThing } from "../../model/types";
import { Ago } from "../../parts/Ago";
import { Estimated } from "../../parts/Estimated";
import { useChanges } from "../../parts/OpenChange";
import { Section } from "../../parts/Page";
import { QueryView, SkeletonRows } from "../../parts/states";
import { Chip } from "../../ui/Chip";

/** Rows of "What is always bad". */
const ALWAYS_BAD = 5;

export function AnswersSections() {
  const { body } = useRange();
  const query = usePost("/api/overview/answers", body);
  // Endpoints that changed, and those that suffer from it, are in the sentences above.
  const open = useChanges().filter((card) => !card.recovered);
  const changed = new Set(open.flatMap((card) => [card.name, ...card.suffering]));
  return (
    <QueryView query={query} skeleton={<SkeletonRows rows={6} />}>
      {(answers) => (
        <div className="space-y-4">
          {answers.dataSince && (
            <p className="text-ink2">
              Since data began, <Moment at={answers.dataSince} />.
            </p>
          )}
          <div className="grid items-start gap-4 xl:grid-cols-2">
            <AlwaysBad rows={answers.alwaysBad.filter((row) => !changed.has(row.name)).slice(0, ALWAYS_BAD)} />
            <New things={answers.new} />
          </div>
          {answers.aiSpend && <Spend spend={answers.aiSpend} />}
        </div>
      )}
    </QueryView>
  );
}

function Moment({ at }: { at: string }) {
  const ms = parseMs(at);
  return (
    <time dateTime={at} title={exactTime(at)}>
      {dayMonth(ms)} {clockMinutes(ms)}
    </time>
  );
}

function AlwaysBad({ rows }: { rows: Answers["alwaysBad"] }) {
  const pid = useProjectId();
  return (
    <Section title="What is always bad" flush>
      {rows.length ? (
        <ul aria-label="What is always bad">
          {rows.map((row) => (
            <li key={row.name} className="border-line border-b px-3 py-2 last:border-b-0 hover:bg-hover">
              <Link
                to="/p/$pid/endpoints/$name"
                params={{ pid, name: row.name }}
                className="link font-medium font-mono text-dense [overflow-wrap:anywhere]"
              >
                {brief(row.name)}
              </Link>
              <p className="text-ink2">
                <BadRequests of={row} />
              </p>
            </li>
          ))}
        </ul>
      ) : (
        <p className="px-3 py-3 text-ink2">No endpoint is failing or slow besides those that changed.</p>
      )}
    </Section>
  );
}

/** "12 % of 300 requests failed or took over 1.5 s, 4 % took 0.75 to 1.5 s: about 9 an hour."; counts instead of shares
 * on few requests, and no rate of a few minutes. */
function BadRequests({ of }: { of: Answers["alwaysBad"][number] }) {
  const isShare = of.count >= 20 && of.badAnHour !== null;
  const part = (value: number) => (isShare ? percent(value / of.count) : count(value));
  const parts: [number, string][] = [
    [of.badCount, "failed or took over 1.5 s"],
    [of.slowCount, "took 0.75 to 1.5 s"],
  ];
  const [first, second] = parts.filter(([value]) => value > 0);
  if (!first) return null;
  return (
    <>
      {part(first[0])} of <Estimated of={of} /> {of.count === 1 ? "request" : "requests"} {first[1]}
      {second && `, ${part(second[0])} ${second[1]}`}
      {of.badAnHour === null ? "." : `: ${anHour(of.badAnHour)}.`}
    </>
  );
}

function anHour(rate: number): string {
  return rate < 0.95 ? "less than 1 an hour" : `about ${count(Math.round(rate))} an hour`;
}

const KINDS: Record<NewThing["kind"], string> = {
  issue: "issue",
  service: "service",
  version: "version",
  endpoint: "endpoint",
  task: "task",
  ai_trace: "AI call",
};

function New({ things }: { things: NewThing[] }) {
  return (
    <Section title="What is new" flush>
      {things.length ? (
        <ul aria-label="What is new">
          {things.map((thing) => (
            <li
              key={`${thing.kind} ${thing.exceptionHash ?? thing.name}`}
              className="flex items-baseline gap-2 border-line border-b px-3 py-2 last:border-b-0 hover:bg-hover"
            >
              <Chip tone={thing.kind === "issue" ? "error" : "plain"}>{KINDS[thing.kind]}</Chip>
              <span className="min-w-0 flex-1">
                <NewLink thing={thing} />
                <span className="block text-caption text-ink2">{since(thing)}</span>
              </span>
              <span className="shrink-0 text-caption text-ink2">
                <Ago at={thing.since} />
              </span>
            </li>
          ))}
        </ul>
      ) : (
        <p className="px-3 py-3 text-ink2">No new issue, service, version or name in this time range.</p>
      )}
    </Section>
  );
}

function since({ kind, service, version, count: times }: NewThing): string {
  if (kind === "version" || kind === "service") return version && kind === "service" ? `version ${version}` : "";
  const of = version ? `since ${service} ${version}`.replace("  ", " ") : service;
  return [times ? `${count(times)} times` : "", of].filter(Boolean).join(" · ");
}

function NewLink({ thing }: { thing: NewThing }) {
  const pid = useProjectId();
  const className = "link font-medium [overflow-wrap:anywhere]";
  switch (thing.kind) {
    case "issue":
      return (
        <Link to="/p/$pid/issues/$hash" params={{ pid, hash: thing.exceptionHash ?? "" }} className={className}>
          {brief(thing.name)}
        </Link>
      );
    case "endpoint":
      return (
        <Link to="/p/$pid/endpoints/$name" params={{ pid, name: thing.name }} className={className}>
          {brief(thing.name)}
        </Link>
      );
    case "task":
      return (
        <Link to="/p/$pid/tasks/$name" params={{ pid, name: thing.name }} className={className}>
          {brief(thing.name)}
        </Link>
      );
    case "ai_trace":
      return (
        <Link to="/p/$pid/ai/$name" params={{ pid, name: thing.name }} className={className}>
          {brief(thing.name)}
        </Link>
      );
    default:
      return (
        <Link
          to="/p/$pid/deploys"
          params={{ pid }}
          search={{ service: valuesText(thing.service ? [thing.service] : []) }}
          className={className}
        >
          {brief(thing.name)}
        </Link>
      );
  }
}

function Spend({ spend: { total, names, comparedFrom } }: { spend: NonNullable<Answers["aiSpend"]> }) {
  const pid = useProjectId();
  const { span } = useRange();
  const hasBefore = comparedFrom !== null;
  // Only a part of the time before has telemetry.
  const isPart = hasBefore && parseMs(comparedFrom) > span.fromMs + 60_000;
  return (
    <Section
      title="What AI costs"
      flush
      actions={
        <span>
          <span className="font-semibold">{usd(total.cost)}</span> <Delta of={total} hasBefore={hasBefore} />
        </span>
      }
    >
      <ul aria-label="What AI costs">
        {names.map((of) => (
          <li
            key={of.name}
            className="flex flex-wrap items-baseline justify-between gap-x-3 border-line border-b px-3 py-2 last:border-b-0 hover:bg-hover"
          >
            <Link
              to="/p/$pid/ai/$name"
              params={{ pid, name: of.name }}
              className="link font-medium [overflow-wrap:anywhere]"
            >
              {of.name}
            </Link>
            <span>
              {usd(of.cost)} <Delta of={of} hasBefore={hasBefore} />
            </span>
          </li>
        ))}
      </ul>
      {!hasBefore && <p className="px-3 py-2 text-caption text-ink2">No data before to compare with.</p>}
      {isPart && (
        <p className="px-3 py-2 text-caption text-ink2">
          Changes compare the time since <Moment at={comparedFrom} /> with as much time one range earlier: there is no
          data before that.
        </p>
      )}
    </Section>
  );
}

function Delta({ of, hasBefore }: { of: AiSpendOf; hasBefore: boolean }) {
  if (!hasBefore) return <span className="text-ink2">{plural(of.calls, "call")}</span>;
  const words = of.change === null ? `before ${usd(of.previousCost)}` : changeWords(of.change);
  return (
    <span className="text-ink2">
      {words} ({plural(of.comparedCalls, "call")}, before {count(of.previousCalls)})
    </span>
  );
}
