// The services of a trace and the calls between them.
import { useId, useMemo } from "react";
import { count, durationMs, durationNs, NONE, percent, plural } from "../../model/format";
import { layOutServices } from "../../model/trace-parts";
import type { TraceColumns } from "../../model/types";
import { ChartFigure } from "../../viz/ChartFigure";
import { slotColour } from "../../viz/palette";
import { useServiceColours } from "../../viz/useServiceColours";

const BOX = { width: 190, height: 54 };
const STEP = { x: 310, y: 84 };
const PAD = 16;

export function TraceMap({ answer }: { answer: TraceColumns }) {
  const arrow = useId();
  const { timeByService: services, calls } = answer;
  const nodes = useMemo(
    () =>
      layOutServices(
        services.map((one) => one.service),
        calls,
      ),
    [services, calls],
  );
  const colourOf = useServiceColours(services.map((one) => one.service));
  const all = services.reduce((sum, one) => sum + one.own, 0);
  const place = new Map(
    nodes.map((node) => [node.name, { x: PAD + node.column * STEP.x, y: PAD + node.row * STEP.y }]),
  );
  const width = Math.max(...nodes.map((node) => node.column)) * STEP.x + BOX.width + 2 * PAD;
  const height = Math.max(...nodes.map((node) => node.row)) * STEP.y + BOX.height + 2 * PAD + 24;
  return (
    <div className="min-h-0 flex-1 overflow-y-auto p-4">
      <ChartFigure
        title="Services of this trace"
        summary={`${plural(services.length, "service")}. ${calls
          .map(
            (call) =>
              `${call.from || "no service name"} calls ${call.to || "no service name"} ${plural(call.calls, "time")}`,
          )
          .join("; ")}.`}
        table={() => ({
          head: ["From", "To", "Calls", "Errors", "Sum of durations"],
          rows: calls
            .map((call) => [
              call.from || NONE,
              call.to || NONE,
              count(call.calls),
              count(call.errors),
              durationNs(call.duration),
            ])
            .reverse(),
        })}
      >
        {/* Deliberate: a scroll container must be reachable by keyboard */}
        <div className="overflow-x-auto" tabIndex={0} role="region" aria-label="Services of this trace, drawing">
          <svg width={width} height={height} aria-hidden className="block">
            <defs>
              <marker id={arrow} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
                <path d="M0 0 8 4 0 8z" fill="var(--control)" />
              </marker>
            </defs>
            {calls.map((call) => {
              const [from, to] = [place.get(call.from), place.get(call.to)];
              if (!from || !to) return null;
              const forward = to.x > from.x;
              const [x1, y1] = forward
                ? [from.x + BOX.width, from.y + BOX.height / 2]
                : [from.x + BOX.width / 2, from.y + BOX.height];
              const [x2, y2] = forward ? [to.x, to.y + BOX.height / 2] : [to.x + BOX.width / 2, to.y + BOX.height];
              const bend = forward ? (x2 - x1) / 2 : 0;
              const line = forward
                ? `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`
                : `M${x1} ${y1}C${x1} ${y1 + 30} ${x2} ${y2 + 30} ${x2} ${y2}`;
              return (
                <g key={`${call.from}\n${call.to}`}>
                  <path
                    d={line}
                    fill="none"
                    stroke={call.errors ? "var(--error)" : "var(--control)"}
                    strokeWidth={1.5}
                    strokeDasharray={call.errors ? "5 3" : undefined}
                    markerEnd={`url(#${arrow})`}
                  />
                  <text
                    x={(x1 + x2) / 2}
                    y={forward ? (y1 + y2) / 2 - 6 : Math.max(y1, y2) + 20}
                    textAnchor="middle"
                    fontSize={11}
                    fill={call.errors ? "var(--error)" : "var(--ink-2)"}
                  >
                    {call.errors ? `${count(call.calls)}, ${plural(call.errors, "error")}` : `${count(call.calls)} ×`}
                  </text>
                </g>
              );
            })}
            {services.map((one) => {
              const { x, y } = place.get(one.service)!;
              return (
                <g key={one.service} transform={`translate(${x} ${y})`}>
                  <title>{one.service || "no service name"}</title>
                  <rect
                    width={BOX.width}
                    height={BOX.height}
                    rx={6}
                    fill="var(--panel)"
                    stroke={one.errors ? "var(--error)" : "var(--line)"}
                  />
                  <rect width={4} height={BOX.height} rx={2} fill={slotColour(colourOf(one.service))} />
                  <text x={14} y={22} fontSize={13} fontWeight={600} fill="var(--ink)">
                    {shortened(one.service || "no service name")}
                  </text>
                  <text x={14} y={41} fontSize={11} fill="var(--ink-2)">
                    {durationMs(one.own / 1e6)} own ({percent(all ? one.own / all : 0)}), {plural(one.spans, "span")}
                  </text>
                </g>
              );
            })}
          </svg>
        </div>
      </ChartFigure>
    </div>
  );
}

/** As many letters as the box has place for. */
function shortened(name: string): string {
  const letters = [...name];
  return letters.length > 22 ? `${letters.slice(0, 21).join("")}…` : name;
}
