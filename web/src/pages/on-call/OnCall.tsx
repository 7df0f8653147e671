// On-call of the organization, with the pages of the project.
import { getRouteApi } from "@tanstack/react-router";
import { useOncallOrganization } from "../../api/oncall";
import { PageHead } from "../../parts/Page";
import { Empty } from "../../parts/states";
import { SearchLink } from "../../ui/SearchLink";
import { TAB, TabRow } from "../../ui/Tabs";
import { Overview } from "./Overview";
import { Pages } from "./Pages";
import { Policies } from "./Policies";
import { Schedules } from "./Schedules";
import { Teams } from "./Teams";

const route = getRouteApi("/p/$pid/on-call");

const TABS = [
  { tab: undefined, label: "Overview" },
  { tab: "pages", label: "Pages" },
  { tab: "schedules", label: "Schedules" },
  { tab: "policies", label: "Policies" },
  { tab: "teams", label: "Teams" },
] as const;

export function OnCallPage() {
  const { tab } = route.useSearch();
  const { id } = useOncallOrganization();
  if (!id)
    return (
      <Empty heading title="You are not in the organization of this project">
        Schedules and escalation policies belong to an organization. Ask for an invitation.
      </Empty>
    );
  return (
    <>
      <PageHead title="On-call" sub="Who is on call, and the alerts that somebody must acknowledge." />
      <div className="px-4">
        <TabRow label="Parts of on-call">
          {TABS.map((one) => (
            <SearchLink
              key={one.label}
              change={{ tab: one.tab, page: undefined, at: undefined, state: undefined, schedule: undefined }}
              current={tab === one.tab}
              className={TAB}
            >
              {one.label}
            </SearchLink>
          ))}
        </TabRow>
      </div>
      <div className="space-y-4 px-4 py-4">
        {tab === undefined && <Overview />}
        {tab === "pages" && <Pages />}
        {tab === "schedules" && <Schedules />}
        {tab === "policies" && <Policies />}
        {tab === "teams" && <Teams />}
      </div>
    </>
  );
}
