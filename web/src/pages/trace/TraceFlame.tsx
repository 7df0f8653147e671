// The trace as a flame graph of own time: spans of one name and service below the same ones are one box.
import { useMemo, useState } from "react";
import { durationMs, percent, plural } from "../../model/format";
import { traceFlame } from "../../model/trace-parts";
import type { Span } from "../../model/types";
import type { Trace } from "../../model/waterfall";
import { FlameCanvas } from "../../viz/FlameCanvas";
import { useServiceColours } from "../../viz/useServiceColours";

export function TraceFlame({ trace, onOpen }: { trace: Trace<Span>; onOpen: (spanId: string) => void }) {
  const flame = useMemo(() => traceFlame(trace), [trace]);
  const colourOf = useServiceColours(trace.services.map((service) => service.name));
  const [current, setCurrent] = useState<number | null>(null);
  const { tree } = flame;
  const slots = flame.services.map(colourOf);
  const describe = (node: number) =>
    `${tree.names[tree.name[node]]}: ${durationMs(tree.total[node])} (${percent(tree.total[0] ? tree.total[node] / tree.total[0] : 0)}), ${durationMs(tree.self[node])} of own time${node ? `, ${plural(flame.counts[node], "span")}` : ""}`;
  return (
    <div className="min-h-0 flex-1 overflow-y-auto p-4">
      <p className="mb-2 min-h-5 text-dense [overflow-wrap:anywhere]">
        {current === null ? (
          <span className="text-ink2">
            Widths are own time, divided among spans that run at the same time. Double-click or the space bar opens the
            longest span of a box.
          </span>
        ) : (
          describe(current)
        )}
      </p>
      <FlameCanvas
        label={`Flame graph of ${plural(trace.nodes.length, "span")}`}
        tree={tree}
        slots={slots}
        describe={describe}
        onCurrent={setCurrent}
        onOpen={(node) => {
          const span = trace.nodes[flame.longest[node]]?.span;
          if (node && span) onOpen(span.spanId);
        }}
      />
    </div>
  );
}
