// One monitor: state, durations with their phases, availability, results with the reason of each failure.
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { Pause, Pencil, Play, Trash2 } from "lucide-react";
import { useEffect, useState } from "react";
import { useMayWrite } from "../../api/account";
import { useTypesForLabels } from "../../api/config-types";
import { useGet, usePost, useProjectId } from "../../api/hooks";
import { useDeleteMonitor, usePauseMonitor, useReplaceToken, useRunMonitor } from "../../api/monitors";
import { useRange } from "../../api/range";
import { labelOf } from "../../model/config-fields";
import { count } from "../../model/format";
import { spell, targetOf, uptimeText } from "../../model/monitors";
import { isLive } from "../../model/range";
import type { Check, CheckResult, CheckSeries } from "../../model/types";
import { Ago } from "../../parts/Ago";
import { Confirm } from "../../parts/Confirm";
import { MutationButton, Problem } from "../../parts/MutationButton";
import { PageHead, Section, Stats } from "../../parts/Page";
import { QueryView, SkeletonBox } from "../../parts/states";
import { DayBars, StateChip } from "./cells";
import { DurationChart } from "./DurationChart";
import { MonitorForm } from "./MonitorForm";
import { Output, Results } from "./Results";
import { TokenDialog } from "./TokenDialog";

const route = getRouteApi("/p/$pid/monitors/$id");

/** Milliseconds between two loads of a range that ends now. */
const EVERY_MS = 5000;

/** Moves the end of a live range, so that new results appear. */
function useLiveRange(): void {
  const { range, refresh } = useRange();
  const live = isLive(range);
  useEffect(() => {
    if (!live) return;
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") refresh();
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [live, refresh]);
}

export function MonitorPage() {
  const { id } = route.useParams();
  const { body } = useRange();
  useLiveRange();
  const check = useGet("/api/synthetics/checks/{id}", { path: { id }, keep: false });
  const series = usePost("/api/synthetics/checks/{id}/series", body, { path: { id } });
  const [ran, setRan] = useState<CheckResult | null>(null);
  return (
    <>
      <PageHead
        title={check.data?.name ?? "Monitor"}
        sub={check.data && <About check={check.data} />}
        actions={check.data && <Actions check={check.data} onRan={setRan} />}
      />
      <div className="space-y-4 px-4 pb-6">
        <QueryView query={check} skeleton={<SkeletonBox height={64} />}>
          {(check) => (
            <div className="space-y-4">
              {check.problem && (
                <p className="rounded-control bg-warnsoft px-3 py-2 text-warn">It is not checked: {check.problem}.</p>
              )}
              {ran?.output && (
                <Section title="Output of the latest run">
                  <Output result={ran} />
                </Section>
              )}
              <QueryView query={series} skeleton={<SkeletonBox height={220} />}>
                {(series) => <Over check={check} series={series} />}
              </QueryView>
              <Results check={check} />
            </div>
          )}
        </QueryView>
      </div>
    </>
  );
}

function About({ check }: { check: Check }) {
  const types = useTypesForLabels("monitors");
  return (
    <>
      <StateChip check={check} />
      <span className="[overflow-wrap:anywhere]">
        {labelOf(types, check.checkType)} · {targetOf(check)}
      </span>
      {check.checkType === "heartbeat" ? (
        check.lastPingAt && (
          <span>
            reported <Ago at={check.lastPingAt} />
          </span>
        )
      ) : (
        <span>every {spell(check.intervalSeconds)}</span>
      )}
    </>
  );
}

type Open = "edit" | "delete" | "token" | null;

function Actions({ check, onRan }: { check: Check; onRan: (result: CheckResult) => void }) {
  const mayWrite = useMayWrite();
  const pid = useProjectId();
  const navigate = useNavigate();
  const { refresh } = useRange();
  const [open, setOpen] = useState<Open>(null);
  const [replaced, setReplaced] = useState<Check | null>(null);
  const run = useRunMonitor(check.id);
  const pause = usePauseMonitor(check.id);
  const remove = useDeleteMonitor(check.id);
  const token = useReplaceToken(check.id);
  if (!mayWrite) return null;
  const close = () => setOpen(null);
  const isHeartbeat = check.checkType === "heartbeat";
  return (
    <>
      {isHeartbeat ? (
        <button type="button" className="btn" onClick={() => setOpen("token")}>
          New address…
        </button>
      ) : (
        <MutationButton
          of={run}
          busy="Checking…"
          onClick={() =>
            run.mutate(undefined, {
              onSuccess: (result) => {
                onRan(result);
                refresh();
              },
            })
          }
        >
          <Play size={14} aria-hidden /> Run now
        </MutationButton>
      )}
      <MutationButton of={pause} onClick={() => pause.mutate(!check.enabled)}>
        {check.enabled ? (
          <>
            <Pause size={14} aria-hidden /> Pause
          </>
        ) : (
          <>
            <Play size={14} aria-hidden /> Resume
          </>
        )}
      </MutationButton>
      <button type="button" className="btn" onClick={() => setOpen("edit")}>
        <Pencil size={14} aria-hidden /> Edit
      </button>
      <button type="button" className="btn" onClick={() => setOpen("delete")}>
        <Trash2 size={14} aria-hidden /> Delete…
      </button>
      <Problem of={run} />
      <Problem of={pause} />
      {open === "edit" && <MonitorForm check={check} browserProblem={check.problem} onClose={close} onSaved={close} />}
      <Confirm
        open={open === "delete"}
        onOpenChange={close}
        title={`Delete ${check.name}?`}
        label="Delete monitor"
        busy="Deleting…"
        of={remove}
        onConfirm={() =>
          remove.mutate(undefined, { onSuccess: () => navigate({ to: "/p/$pid/monitors", params: { pid } }) })
        }
      >
        <p>Its results and its availability are deleted too. Status pages lose it.</p>
      </Confirm>
      <Confirm
        open={open === "token"}
        onOpenChange={close}
        title="Replace the address?"
        label="Replace address"
        of={token}
        onConfirm={() =>
          token.mutate(undefined, {
            onSuccess: (check) => {
              close();
              setReplaced(check);
            },
          })
        }
      >
        <p>The job must call the new address. The old one ends at once.</p>
      </Confirm>
      {replaced && <TokenDialog check={replaced} onDone={() => setReplaced(null)} />}
    </>
  );
}

function Over({ check, series }: { check: Check; series: CheckSeries }) {
  const made = series.points.reduce((sum, point) => sum + point.total - point.missed, 0);
  const bad = series.points.reduce((sum, point) => sum + point.total - point.missed - point.up, 0);
  const missed = series.points.reduce((sum, point) => sum + point.missed, 0);
  return (
    <div className="space-y-4">
      <Stats
        items={[
          { label: "Uptime", value: uptimeText(series.uptimePct), help: "Share of good checks in the time range." },
          { label: check.checkType === "heartbeat" ? "Reports" : "Checks", value: count(made) },
          { label: "Failed", value: count(bad), tone: bad > 0 ? "error" : undefined },
          { label: "Not made", value: count(missed), help: "The server did not run, or was busy." },
        ]}
      />
      {check.checkType !== "heartbeat" && <DurationChart series={series} isScript={check.checkType === "browser"} />}
      <Section title="Last 90 days">
        <DayBars days={series.days} uptime={daysUptime(series)} nowMs={Date.now()} height={28} />
        <p className="mt-1 flex justify-between text-caption text-ink2">
          <span>90 days ago</span>
          <span>{uptimeText(daysUptime(series))} good</span>
          <span>today</span>
        </p>
      </Section>
      {series.transitions.length > 0 && <Changes series={series} />}
    </div>
  );
}

function daysUptime({ days }: CheckSeries): number | null {
  const made = days.reduce((sum, day) => sum + day.total - day.missed, 0);
  return made > 0 ? (100 * days.reduce((sum, day) => sum + day.up, 0)) / made : null;
}

function Changes({ series }: { series: CheckSeries }) {
  const pid = useProjectId();
  return (
    <Section title="Changes" flush>
      <ul aria-label="Changes" className="divide-y divide-line">
        {series.transitions.slice(0, 50).map((change) => (
          <li
            key={`${change.at} ${change.to}`}
            className="flex flex-wrap items-baseline justify-between gap-x-4 px-3 py-2"
          >
            <span className="min-w-0 [overflow-wrap:anywhere]">
              <span className={change.to === "down" ? "font-medium text-error" : "font-medium"}>{change.to}</span>
              {change.reason && <span className="text-ink2"> {change.reason}</span>}
            </span>
            <span className="flex items-baseline gap-3 text-ink2">
              {change.traceId && change.to === "down" && (
                <Link
                  to="/p/$pid/traces/$traceId"
                  params={{ pid, traceId: change.traceId }}
                  search={{ at: change.at }}
                  className="link"
                >
                  Trace
                </Link>
              )}
              <Ago at={change.at} />
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}
