import { getRouteApi, Link } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { useProject } from "../../api/account";
import { useGet, usePost } from "../../api/hooks";
import { useRange } from "../../api/range";
import type { Span } from "../../model/range";
import type { IssueGroup, Overview } from "../../model/types";
import { Ago } from "../../parts/Ago";
import { type Column, DataTable } from "../../parts/DataTable";
import { Estimated, EstimatedNote } from "../../parts/Estimated";
import { IssueTitle } from "../../parts/IssueCells";
import { NAV, type NavItem } from "../../parts/nav";
import { useChangesQuery } from "../../parts/OpenChange";
import { PageHead, Section } from "../../parts/Page";
import { Empty, QueryView, SkeletonRows } from "../../parts/states";
import { Sparkline } from "../../viz/Sparkline";
import { AnswersSections } from "./Answers";
import { ChangesSection } from "./Changes";

// Loaded lazily: what changed comes before the services and endpoints, and most visits do not show the offer.
const ServicesStrip = lazy(() => import("./ServicesStrip").then((part) => ({ default: part.ServicesStrip })));
const WorstEndpoints = lazy(() => import("./WorstEndpoints").then((part) => ({ default: part.WorstEndpoints })));
const DemoOffer = lazy(() => import("../../parts/Demo").then((part) => ({ default: part.DemoOffer })));

const route = getRouteApi("/p/$pid/");

export function OverviewPage() {
  const { pid } = route.useParams();
  const { body, span } = useRange();
  const query = useGet("/api/dashboard/overview", { query: { from: body.fromDate, to: body.toDate } });
  return (
    <>
      <PageHead title="Overview" sub="What hurts most, and what is new." />
      <div className="px-4 pb-6">
        <QueryView query={query} skeleton={<SkeletonRows rows={12} />}>
          {(overview) => (overview.hasData ? <Body overview={overview} span={span} /> : <Nothing pid={pid} />)}
        </QueryView>
      </div>
    </>
  );
}

function Nothing({ pid }: { pid: string }) {
  const project = useProject();
  if (project?.demo)
    return (
      <div className="panel">
        <Empty title="Nothing has arrived yet">The first of the demo data shows up here by itself.</Empty>
      </div>
    );
  return (
    <div className="panel">
      <Empty
        title="Nothing has arrived yet"
        action={
          <>
            <Link to="/p/$pid/connect" params={{ pid }} className="btn btn-primary btn-big">
              Connect an application
            </Link>
            <Suspense fallback={null}>
              <DemoOffer organizationId={project?.organizationId} big />
            </Suspense>
          </>
        }
      >
        Point any OpenTelemetry SDK or Collector at this project. Slow endpoints, failing tasks, model costs and new
        errors will show up here.
      </Empty>
    </div>
  );
}

function Body({ overview, span }: { overview: Overview; span: Span }) {
  const { pid } = route.useParams();
  const { body } = useRange();
  // Everything is asked for at once, and shown from the top: no section moves those that a reader looks at.
  const isChangesRead = !useChangesQuery().isPending;
  const isAnswersRead = !usePost("/api/overview/answers", body).isPending;
  const isMapRead = !usePost("/api/services/map", body).isPending;
  if (!isChangesRead) return <ChangesSection />;
  return (
    <div className="space-y-4">
      <ChangesSection />
      <AnswersSections />
      {isAnswersRead && isMapRead && <Ranked overview={overview} span={span} pid={pid} />}
    </div>
  );
}

function Ranked({ overview, span, pid }: { overview: Overview; span: Span; pid: string }) {
  return (
    <Suspense fallback={null}>
      <ServicesStrip />
      <Counts counts={overview.counts} stored={overview.storedCounts} />
      <Section
        title="Worst endpoints"
        flush
        actions={
          <Link to="/p/$pid/endpoints" params={{ pid }} className="link">
            All endpoints
          </Link>
        }
      >
        {overview.worstEndpoints?.length ? (
          <WorstEndpoints rows={overview.worstEndpoints} span={span} />
        ) : (
          <Empty title="No requests in this time range">
            Requests that your services answer are ranked here by how much they hurt.
          </Empty>
        )}
      </Section>
      <Section
        title="Recent issues"
        flush
        actions={
          <Link to="/p/$pid/issues" params={{ pid }} className="link">
            All issues
          </Link>
        }
      >
        {overview.recentIssues?.length ? (
          <DataTable
            label="Recent issues"
            columns={issueColumns(span)}
            rows={overview.recentIssues}
            rowKey={(row) => row.exceptionHash}
          />
        ) : (
          <Empty title="No exceptions in this time range">Good. New ones appear here first.</Empty>
        )}
      </Section>
    </Suspense>
  );
}

const TILES: [keyof Overview["counts"], string, NavItem["to"]][] = [
  ["endpoints", "Requests", "/p/$pid/endpoints"],
  ["tasks", "Task runs", "/p/$pid/tasks"],
  ["aiTraces", "AI calls", "/p/$pid/ai"],
  ["issues", "Exceptions", "/p/$pid/issues"],
  ["spans", "Spans", "/p/$pid/traces"],
  ["logs", "Logs", "/p/$pid/logs"],
  ["metricPoints", "Metric points", "/p/$pid/metrics"],
];

function Counts({ counts, stored }: { counts: Overview["counts"]; stored: Overview["counts"] }) {
  const { pid } = route.useParams();
  const counted = (key: keyof Overview["counts"]) => ({ count: counts[key], storedCount: stored[key] });
  return (
    <div>
      <ul className="panel grid grid-cols-2 overflow-hidden sm:grid-cols-4 xl:grid-cols-7" aria-label="What arrived">
        {TILES.map(([key, label, to]) => {
          const Icon = NAV.find((item) => item.to === to)?.icon;
          return (
            <li key={key} className="-mb-px -ml-px border-line border-b border-l">
              <Link to={to} params={{ pid }} className="block px-3 py-2.5 hover:bg-hover">
                <span className="flex items-center gap-1.5 text-caption text-ink2">
                  {Icon && <Icon size={12} aria-hidden />}
                  {label}
                </span>
                <span className="block font-semibold text-big">
                  <Estimated of={counted(key)} />
                </span>
              </Link>
            </li>
          );
        })}
      </ul>
      <EstimatedNote of={TILES.map(([key]) => counted(key))} className="mt-1.5" />
    </div>
  );
}

function issueColumns(span: Span): Column<IssueGroup>[] {
  return [
    { key: "title", head: "Issue", card: "main", cell: (row) => <IssueTitle row={row} /> },
    {
      key: "trend",
      head: "Events over time",
      width: "120px",
      card: "half",
      cell: (row) => <Sparkline points={row.hourlyTrend} span={span} tone="error" label="Events" />,
    },
    { key: "count", head: "Events", num: true, width: "80px", cell: (row) => <Estimated of={row} /> },
    {
      key: "last",
      head: "Last seen",
      num: true,
      width: "100px",
      className: "text-ink2",
      cell: (row) => <Ago at={row.lastSeen} />,
    },
  ];
}
