// Changes with one version: worse, better, new, fixed.
import { getRouteApi, Link } from "@tanstack/react-router";
import { ExternalLink } from "lucide-react";
import { usePost, useProjectId } from "../../api/hooks";
import { changeSign } from "../../model/compare";
import { count, durationNs, percent } from "../../model/format";
import { dateTime, exactTime, parseMs } from "../../model/time";
import type { Difference, NewThing, VersionPage as Page } from "../../model/types";
import { Ago } from "../../parts/Ago";
import { PageHead, Section } from "../../parts/Page";
import { ServiceName } from "../../parts/ServiceName";
import { QueryView, SkeletonRows } from "../../parts/states";
import { Chip } from "../../ui/Chip";

const route = getRouteApi("/p/$pid/deploys/$service/$version");

export function VersionPage() {
  const { service, version } = route.useParams();
  const query = usePost("/api/deploys/version", { service, version }, { keep: false });
  return (
    <>
      <PageHead
        title={`${service} ${version}`}
        sub={query.data && <About deploy={query.data.deploy} />}
        actions={query.data && <Before page={query.data} />}
      />
      <div className="space-y-4 px-4 pb-6">
        <QueryView query={query} skeleton={<SkeletonRows rows={8} />}>
          {(page) => <Body page={page} />}
        </QueryView>
      </div>
    </>
  );
}

function About({ deploy }: { deploy: Page["deploy"] }) {
  const what = [deploy.commit, deploy.author].filter(Boolean).join(" by ");
  return (
    <>
      <ServiceName name={deploy.service} />
      {deploy.environment && <Chip>{deploy.environment}</Chip>}
      <span title={exactTime(deploy.time)}>
        went live <Ago at={deploy.time} />
      </span>
      {deploy.previous && <span>after {deploy.previous}</span>}
      {deploy.url ? (
        <a href={deploy.url} target="_blank" rel="noreferrer" className="link inline-flex items-center gap-1">
          {what || "deploy"}
          <ExternalLink size={12} aria-label="opens another site" />
        </a>
      ) : (
        what && <span>{what}</span>
      )}
    </>
  );
}

/** The Endpoints from the deploy on, against as long before it. */
function Before({ page }: { page: Page }) {
  const pid = useProjectId();
  return (
    <Link
      to="/p/$pid/endpoints"
      params={{ pid }}
      search={{ from: page.deploy.time, to: page.to, cmp: "previous" } as never}
      className="btn"
    >
      Compare endpoints with before
    </Link>
  );
}

function Body({ page }: { page: Page }) {
  const { calls, otherCalls } = page;
  return (
    <div className="space-y-4">
      <p className="text-ink2">
        {count(calls)} requests, runs and AI calls of this version, {count(otherCalls)} of others, from{" "}
        {dateTime(parseMs(page.from))} to {dateTime(parseMs(page.to))}. Differences need 20 of each.
      </p>
      <div className="grid grid-cols-1 items-start gap-4 xl:grid-cols-2">
        <Differences title="What got worse" rows={page.worse} isWorse none="Nothing got worse for certain." />
        <Differences title="What got better" rows={page.better} none="Nothing got better for certain." />
        <Section title="What is new" flush>
          {page.new.length ? (
            <List label="What is new">
              {page.new.map((thing) => (
                <Row key={`${thing.kind} ${thing.exceptionHash ?? thing.name}`}>
                  <span className="flex min-w-0 items-baseline gap-2">
                    <Chip tone={thing.kind === "issue" ? "error" : "plain"}>{WORDS[thing.kind]}</Chip>
                    <Named kind={thing.kind} name={thing.name} hash={thing.exceptionHash} />
                  </span>
                  <span className="shrink-0 text-ink2">{count(thing.count)} times</span>
                </Row>
              ))}
            </List>
          ) : (
            <p className="px-3 py-3 text-ink2">No issue and no name began with this version.</p>
          )}
        </Section>
        <Section title="What is fixed" flush>
          {page.fixed.length ? (
            <List label="What is fixed">
              {page.fixed.map((issue) => (
                <Row key={issue.exceptionHash}>
                  <Named kind="issue" name={issue.name} hash={issue.exceptionHash} />
                  <span className="shrink-0 text-ink2">{count(issue.count)} times before, none since</span>
                </Row>
              ))}
            </List>
          ) : (
            <p className="px-3 py-3 text-ink2">No issue of other versions is missing for certain.</p>
          )}
        </Section>
      </div>
    </div>
  );
}

const WORDS: Record<NewThing["kind"], string> = {
  issue: "issue",
  service: "service",
  version: "version",
  endpoint: "endpoint",
  task: "task",
  ai_trace: "AI call",
};

function Differences({
  title,
  rows,
  none,
  isWorse,
}: {
  title: string;
  rows: Difference[];
  none: string;
  isWorse?: boolean;
}) {
  return (
    <Section title={title} flush>
      {rows.length ? (
        <List label={title}>
          {rows.map((row) => (
            <Row key={`${row.kind} ${row.name} ${row.metric}`}>
              <span className="min-w-0">
                <Named kind={row.kind} name={row.name} />
                <span className="block text-caption text-ink2">
                  {count(row.afterCount)} calls, {count(row.beforeCount)} of other versions
                </span>
              </span>
              <span className="shrink-0 text-right">
                <span className={`font-medium ${isWorse ? "text-error" : "text-ok"}`}>{difference(row)}</span>
                <span className="block text-caption text-ink2">{values(row)}</span>
              </span>
            </Row>
          ))}
        </List>
      ) : (
        <p className="px-3 py-3 text-ink2">{none}</p>
      )}
    </Section>
  );
}

const METRICS: Record<Difference["metric"], string> = { p50: "p50", p95: "p95", error_rate: "failed" };

function difference({ metric, before, after }: Difference): string {
  if (metric !== "error_rate") return `${METRICS[metric]} ${changeSign(after / Math.max(before, 1) - 1)}`;
  const points = (after - before) * 100;
  return `failed ${points > 0 ? "+" : "−"}${Math.abs(points).toFixed(1)} points`;
}

function values({ metric, before, after }: Difference): string {
  const format = metric === "error_rate" ? percent : durationNs;
  return `${format(before)} → ${format(after)}`;
}

function List({ label, children }: { label: string; children: React.ReactNode }) {
  return <ul aria-label={label}>{children}</ul>;
}

function Row({ children }: { children: React.ReactNode }) {
  return (
    <li className="flex items-baseline justify-between gap-3 border-line border-b px-3 py-2 last:border-b-0 hover:bg-hover">
      {children}
    </li>
  );
}

function Named({ kind, name, hash }: { kind: NewThing["kind"]; name: string; hash?: string | null }) {
  const pid = useProjectId();
  const className = "link font-medium [overflow-wrap:anywhere]";
  if (kind === "issue")
    return (
      <Link to="/p/$pid/issues/$hash" params={{ pid, hash: hash ?? "" }} className={className}>
        {name}
      </Link>
    );
  const pages = {
    endpoint: "/p/$pid/endpoints/$name",
    task: "/p/$pid/tasks/$name",
    ai_trace: "/p/$pid/ai/$name",
  } as const;
  const to = kind === "endpoint" || kind === "task" || kind === "ai_trace" ? pages[kind] : null;
  if (!to) return <span className="font-medium">{name}</span>;
  return (
    <Link to={to} params={{ pid, name }} className={className}>
      {name}
    </Link>
  );
}
