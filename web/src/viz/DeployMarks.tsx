// Deploys on a time chart: a line and a link each, in the order of time.
import { Link } from "@tanstack/react-router";
import { Rocket } from "lucide-react";
import { usePost, useProjectId } from "../api/hooks";
import { useRange } from "../api/range";
import { type DeployMark, deployMarks, deployWords } from "../model/deploys";
import { isoFromMs } from "../model/time";
import { Tip } from "../ui/Tip";
import { FRAME } from "./frame";

interface Props {
  starts: number[];
  intervalMs: number;
  /** Width of the chart in pixels. */
  width: number;
}

export function DeployMarks({ starts, intervalMs, width }: Props) {
  const { body, span } = useRange();
  const [from, to] = [starts[0] ?? 0, (starts.at(-1) ?? 0) + intervalMs];
  // Charts of the page's range share one request.
  const isOfPage = from >= span.fromMs - intervalMs && to <= span.toMs + intervalMs;
  const own = { fromDate: isoFromMs(from), toDate: isoFromMs(to) };
  const query = usePost("/api/deploys/list", isOfPage ? body : own);
  const marks = deployMarks(query.data?.data ?? [], from, to, width - FRAME.left - FRAME.right);
  if (!width || !marks.length) return null;
  return (
    <ul aria-label="Deploys" data-deploys>
      {marks.map((mark) => (
        <li key={mark.left}>
          <span
            aria-hidden
            className="pointer-events-none absolute border-ink2 border-l border-dashed"
            style={{ left: FRAME.left + mark.left, top: FRAME.top, bottom: FRAME.bottom }}
          />
          <Mark mark={mark} />
        </li>
      ))}
    </ul>
  );
}

function Mark({ mark: { left, deploys } }: { mark: DeployMark }) {
  const pid = useProjectId();
  const words = deploys.map(deployWords);
  const services = new Set(deploys.map((deploy) => deploy.service));
  const service = services.size === 1 ? deploys[0].service || undefined : undefined;
  const shared = {
    "aria-label": deploys.length > 1 ? `${deploys.length} deploys: ${words.join("; ")}` : words[0],
    className: "group absolute -top-1 z-5 flex size-6 -translate-x-1/2 items-center justify-center",
    style: { left: FRAME.left + left },
  };
  const flag = (
    <span
      aria-hidden
      className="flex h-3.5 min-w-3.5 items-center justify-center rounded-[3px] bg-ink2 px-0.5 text-[10px] text-bg leading-none group-hover:bg-ink"
    >
      {deploys.length > 1 ? deploys.length : <Rocket size={10} />}
    </span>
  );
  return (
    <Tip
      text={words.slice(0, 6).map((line) => (
        <span key={line} className="block">
          {line}
        </span>
      ))}
    >
      {deploys.length === 1 && service ? (
        <Link to="/p/$pid/deploys/$service/$version" params={{ pid, service, version: deploys[0].version }} {...shared}>
          {flag}
        </Link>
      ) : (
        <Link to="/p/$pid/deploys" params={{ pid }} search={{ service }} {...shared}>
          {flag}
        </Link>
      )}
    </Tip>
  );
}
