// Conditions that distinguish the selected rows, and the operations that took their time.
import { useState } from "react";
import { usePost } from "../../api/hooks";
import { useRange } from "../../api/range";
import type { PostRoutes } from "../../api/routes";
import { durationMs, percent, plural } from "../../model/format";
import { Breakable } from "../../ui/Breakable";
import { Section } from "../Page";
import { QueryView, SkeletonRows } from "../states";

type Answer = PostRoutes["/api/explain"]["answer"];
type Row = Answer["data"][number];
type Condition = Row["synonyms"][number];

/** Milliseconds of the second attempt, when the first was partial. */
const PATIENCE_MS = 8000;

type Request = PostRoutes["/api/explain"]["body"];

interface Props {
  entity: Request["entity"];
  name?: string;
  selection?: Request["selection"];
  /** The selection in words. */
  words: string;
  /** Only rows that pass this query are compared. */
  where?: string;
  onClose?: () => void;
  onWhere: (where: string | undefined) => void;
}

export function Explain({ entity, name, selection, words, where, onClose, onWhere }: Props) {
  const { body } = useRange();
  const [budgetMs, setBudget] = useState<number | undefined>(undefined);
  const query = usePost("/api/explain", { ...body, entity, name, query: where, selection, budgetMs });
  return (
    <Section title="What explains it">
      <div className="space-y-4">
        <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <span className="font-medium">{words}</span>
          {where && (
            <span className="inline-flex min-w-0 items-center gap-2 rounded-control border border-line px-2 text-dense">
              <code className="min-w-0 truncate">{where}</code>
              <button type="button" className="btn btn-ghost" onClick={() => onWhere(undefined)}>
                Remove
              </button>
            </span>
          )}
          {onClose && (
            <button type="button" className="btn ml-auto" onClick={onClose}>
              Close
            </button>
          )}
        </p>
        <QueryView query={query} skeleton={<SkeletonRows rows={3} />}>
          {(answer) => (
            <div className="space-y-4">
              <Causes answer={answer} where={where} onWhere={onWhere} />
              <OwnTime answer={answer} />
              <Notes answer={answer} more={() => setBudget(PATIENCE_MS)} isLast={budgetMs !== undefined} />
            </div>
          )}
        </QueryView>
      </div>
    </Section>
  );
}

function conditionWords({ attribute, relation, value, scope, service }: Condition): string {
  const place = scope === "child" ? ` in a call from ${service}` : "";
  if (relation === "absent") return `${attribute} is absent${place}`;
  const sign = { equals: "=", at_least: "≥", less_than: "<" }[relation];
  return `${attribute} ${sign} ${value}${place}`;
}

function Causes({ answer, where, onWhere }: { answer: Answer; where?: string; onWhere: (where: string) => void }) {
  if (answer.selected < 5) return <p>{plural(answer.selected, "row")} selected: 5 are needed.</p>;
  if (!answer.baseline && !answer.before) return <p>All rows of these minutes are selected: no others to compare.</p>;
  if (!answer.data.length)
    return (
      <p>No attribute tells these {answer.selected.toLocaleString("en-US")} from the others of the same minutes.</p>
    );
  const within = (condition: string) => onWhere(where ? `${where} ${condition}` : condition);
  return (
    <ol className="space-y-3" aria-label="Causes">
      {answer.data.map((row) => {
        const words = [row, row.and].flatMap((one) => (one ? [conditionWords(one as Condition)] : [])).join(" and ");
        const wanted = [row.query, row.and?.query ?? ""].filter(Boolean).join(" ");
        const isWhole = !!row.query && (!row.and || !!row.and.query);
        return (
          <li key={words} className="space-y-1">
            <p className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
              <strong className="min-w-0 break-words font-semibold">
                <Breakable name={words} />
              </strong>
              <span className="text-ink2">{shareWords(row)}</span>
              {isWhole && (
                <span className="ml-auto flex gap-1">
                  <button
                    type="button"
                    className="btn"
                    onClick={() => within(wanted)}
                    aria-label={`Filter by ${words}`}
                  >
                    Filter by
                  </button>
                  <button
                    type="button"
                    className="btn"
                    onClick={() => within(`-(${wanted})`)}
                    aria-label={`Exclude ${words}`}
                  >
                    Exclude
                  </button>
                </span>
              )}
            </p>
            <Bar label="Selected" share={row.selectionShare} colour="var(--c1)" />
            <Bar
              label={row.kind === "began" ? "Just before" : "Others"}
              share={row.baselineShare}
              colour="var(--c-other)"
            />
            {row.synonyms.length > 0 && (
              <details className="text-dense text-ink2">
                <summary>And {plural(row.synonyms.length, "attribute")} that say the same</summary>
                <ul className="mt-1 space-y-0.5 break-words">
                  {row.synonyms.map((one) => (
                    <li key={conditionWords(one)}>{conditionWords(one)}</li>
                  ))}
                </ul>
              </details>
            )}
          </li>
        );
      })}
    </ol>
  );
}

function shareWords(row: Row): string {
  if (row.kind === "began")
    return `Began with it: ${percent(row.selectionShare)} of them have it, ${percent(row.baselineShare)} of those in the five minutes before.`;
  return `explains ${percent(row.explained)}: ${percent(row.selectionShare)} of them have it, ${percent(row.baselineShare)} of the others in the same minutes.`;
}

function Bar({ label, share, colour }: { label: string; share: number; colour: string }) {
  return (
    <div className="flex items-center gap-2 text-dense">
      <span className="w-20 shrink-0 text-ink2">{label}</span>
      <span aria-hidden className="h-2.5 min-w-0 flex-1 rounded-[2px] bg-hover">
        <span
          className="block h-full rounded-[2px]"
          style={{ width: `${Math.min(100, share * 100)}%`, background: colour }}
        />
      </span>
      <span className="num w-14 shrink-0 text-right">{percent(share)}</span>
    </div>
  );
}

function OwnTime({ answer }: { answer: Answer }) {
  if (!answer.ownTime.length) return null;
  return (
    <div>
      <h3 className="mb-1 font-semibold">Where the time went</h3>
      {/* Deliberate: a scroll container must be reachable by keyboard */}
      <div className="overflow-x-auto" tabIndex={0} role="region" aria-label="Own time">
        <table className="dt">
          <caption className="sr-only">Own time of operations per row</caption>
          <thead>
            <tr>
              <th scope="col">Operation</th>
              <th scope="col">Service</th>
              <th scope="col" className="num">
                {answer.before ? "Now" : "Selected"}
              </th>
              <th scope="col" className="num">
                {answer.before ? "Before" : "Others"}
              </th>
              <th scope="col" className="num">
                Added
              </th>
              <th scope="col" className="num">
                Of the added time
              </th>
            </tr>
          </thead>
          <tbody>
            {answer.ownTime.map((one) => (
              <tr key={`${one.service} ${one.operation}`}>
                <td>{one.operation}</td>
                <td>{one.service}</td>
                <td className="num">{durationMs(one.selectionMs)}</td>
                <td className="num">{durationMs(one.baselineMs)}</td>
                <td className="num">+{durationMs(one.deltaMs)}</td>
                <td className="num">{percent(one.share)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function Notes({ answer, more, isLast }: { answer: Answer; more: () => void; isLast: boolean }) {
  const leftOut = answer.leftOut.filter((one) => one.reason !== "constant");
  return (
    <div className="space-y-1 text-dense text-ink2">
      <p>
        {plural(answer.selected, "row")} compared with {plural(answer.baseline, "other")} of the same minutes
        {answer.before > 0 && `, and ${plural(answer.before, "row")} before`}.
        {answer.sampled && " A uniform sample by trace id was compared."}
      </p>
      {answer.partial && (
        <p className="flex flex-wrap items-center gap-2">
          Not every span was read in time.
          {!isLast && (
            <button type="button" className="btn" onClick={more}>
              Read more
            </button>
          )}
        </p>
      )}
      {answer.whatFailed.length > 0 && (
        <p className="break-words">
          What failed:{" "}
          {answer.whatFailed
            .map((one) => {
              const call = one.operation && `${one.operation} of ${one.service || "an unnamed service"}: `;
              return `${call ?? ""}${one.attribute} = ${one.value} (${one.count.toLocaleString("en-US")})`;
            })
            .join(", ")}
        </p>
      )}
      {leftOut.length > 0 && (
        <details>
          <summary>{plural(leftOut.length, "attribute")} not compared</summary>
          <p className="mt-1 break-words">{leftOut.map((one) => `${one.attribute} (${one.reason})`).join(", ")}</p>
        </details>
      )}
    </div>
  );
}
