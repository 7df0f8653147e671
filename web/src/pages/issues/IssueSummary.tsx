// The summary of one issue in the drawer of the list.
import { Link } from "@tanstack/react-router";
import { useProjectId } from "../../api/hooks";
import { useWholeIssue } from "../../api/whole";
import { count, NONE } from "../../model/format";
import type { IssueGroup } from "../../model/types";
import { Ago } from "../../parts/Ago";
import { CutNote } from "../../parts/CutNote";
import { Estimated } from "../../parts/Estimated";
import { OwnerLink } from "../../parts/IssueCells";
import { IssueTrend } from "../../parts/IssueTrend";
import { Section, Stats } from "../../parts/Page";
import { StackTrace } from "../../parts/StackTrace";

export function IssuePageLink({ row }: { row: IssueGroup }) {
  const pid = useProjectId();
  return (
    <Link to="/p/$pid/issues/$hash" params={{ pid, hash: row.exceptionHash }} className="btn btn-primary">
      Open the page
    </Link>
  );
}

export function IssueSummary({ row }: { row: IssueGroup }) {
  const whole = useWholeIssue(row);
  return (
    <>
      <Stats
        items={[
          { label: "Events", value: <Estimated of={row} /> },
          { label: "Users", value: row.users === null ? "> 1M" : row.users ? count(row.users) : NONE },
          { label: "Last seen", value: <Ago at={row.lastSeen} /> },
          { label: "New", value: <Ago at={row.firstOccurrence} /> },
        ]}
      />
      <p>
        Where: <OwnerLink type={row.ownerType} name={row.ownerName} />
      </p>
      <IssueTrend points={row.hourlyTrend} />
      <Section title="Latest stack trace">
        <CutNote of={whole} />
        <StackTrace text={whole.row.stackTrace} />
      </Section>
    </>
  );
}
