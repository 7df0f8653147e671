// The trace of an answer in columns: spans as the page's parts take them, and the tree of the waterfall.
import { isoFromNs, parseNs } from "./time";
import type { Span, TraceColumns } from "./types";
import type { Node, Trace } from "./waterfall";

/** Attributes, events and links come when a span is opened. */
export function traceOf(answer: TraceColumns): Trace<Span> {
  const { spans, startTime } = answer;
  const startNs = parseNs(startTime) ?? 0n;
  const missing = new Set(answer.missingParents);
  const entities = new Map<number, TraceColumns["entities"]>();
  for (const entity of answer.entities) {
    const own = entities.get(entity.place);
    if (own) own.push(entity);
    else entities.set(entity.place, [entity]);
  }
  const nodes: Node<Span>[] = [];
  const indexOf = new Map<string, number>();
  const errors: number[] = [];
  let offsetNs = 0;
  for (let i = 0; i < spans.ids.length; i++) {
    offsetNs += spans.starts[i];
    const parent = spans.parents[i] ? i - spans.parents[i] : -1;
    const own = entities.get(i);
    const time = isoFromNs(startNs + BigInt(offsetNs));
    const isError = spans.statuses[i] === 2;
    const span: Span = {
      projectId: answer.projects[spans.projects[i]]?.id ?? "",
      traceId: answer.traceId,
      spanId: spans.ids[i],
      parentSpanId: parent >= 0 ? spans.ids[parent] : "",
      name: answer.names[spans.names[i]] ?? "",
      startTime: time,
      recordedAt: time,
      duration: spans.durations[i],
      spanKind: spans.kinds[i],
      statusCode: spans.statuses[i],
      statusMessage: "",
      serviceName: answer.services[spans.services[i]] ?? "",
      scopeName: "",
      attributes: {},
      events: [],
      links: [],
      httpStatus: spans.httpStatuses[i] || undefined,
      isEndpoint: own?.some((one) => one.traceType === "endpoint") ?? false,
      isTask: own?.some((one) => one.traceType === "task") ?? false,
      isAiTrace: own?.some((one) => one.traceType === "ai_trace") ?? false,
      entityId: own?.[0].id,
      entityName: own?.[0].name,
      depth: parent >= 0 ? nodes[parent].depth + 1 : 0,
      hasMissingParent: missing.has(i),
    };
    if (isError) errors.push(i);
    if (!indexOf.has(span.spanId)) indexOf.set(span.spanId, i);
    nodes.push({
      span,
      parent,
      depth: span.depth,
      childCount: 0,
      end: i + 1,
      startMs: offsetNs / 1e6,
      durationMs: spans.durations[i] / 1e6,
      selfMs: spans.own[i] / 1e6,
      error: isError,
      missingParent: span.hasMissingParent,
    });
  }
  // Parents come before their children: from the end, every subtree is complete when its parent takes its end.
  for (let i = nodes.length - 1; i >= 0; i--) {
    const above = nodes[nodes[i].parent];
    if (!above) continue;
    above.childCount += 1;
    above.end = Math.max(above.end, nodes[i].end);
  }
  const all = answer.timeByService.reduce((sum, one) => sum + one.own, 0);
  return {
    nodes,
    indexOf,
    startNs,
    totalMs: answer.duration / 1e6,
    errors,
    services: answer.timeByService.map((one) => ({
      name: one.service,
      spans: one.spans,
      selfMs: one.own / 1e6,
      share: all ? one.own / all : 0,
    })),
  };
}
