// Spans and whole traces.

import { isoFromNs } from "../../src/model/time.ts";
import type * as t from "../../src/model/types";
import { buildTrace } from "../../src/model/waterfall.fixture.ts";
import { type Body, boot, iso, page, sorted, span } from "./common.ts";
import { DECLINED, issueDetail } from "./issues.ts";
import { hex, random } from "./random.ts";
import { BIG_TRACE, bigSpans, PROJECT, SHOP_TRACE, shopSpans } from "./trace.ts";

const spansOf = (traceId: string) =>
  traceId === BIG_TRACE ? bigSpans(boot - 600_000) : shopSpans(boot - 300_000).map((one) => ({ ...one, traceId }));

export const oneSpan = (traceId: string, spanId: string) => spansOf(traceId).find((one) => one.spanId === spanId);

/** The answer in columns, as the server makes it. */
export function traceColumns(traceId: string): t.TraceColumns {
  const { nodes, startNs, totalMs, services } = buildTrace(spansOf(traceId));
  const [names, serviceNames] = [nodes, nodes].map((all, kind) => [
    ...new Set(all.map(({ span }) => (kind ? span.serviceName : span.name))),
  ]);
  const sums = <K extends string>(key: (i: number) => K | null) => {
    const found = new Map<K, { spans: number; errors: number; own: number; duration: number }>();
    nodes.forEach((node, i) => {
      const at = key(i);
      if (at === null) return;
      const sum = found.get(at) ?? { spans: 0, errors: 0, own: 0, duration: 0 };
      sum.spans += 1;
      sum.errors += node.error ? 1 : 0;
      sum.own += Math.round(node.selfMs * 1e6);
      sum.duration += node.span.duration;
      found.set(at, sum);
    });
    return [...found];
  };
  const operations = sums((i) => `${nodes[i].span.serviceName}\n${nodes[i].span.name}`);
  const calls = sums((i) => {
    const from = nodes[nodes[i].parent]?.span.serviceName;
    return from === undefined || from === nodes[i].span.serviceName ? null : `${from}\n${nodes[i].span.serviceName}`;
  });
  const missing = nodes.flatMap((node, i) => (node.missingParent ? [i] : []));
  return {
    traceId,
    startTime: isoFromNs(startNs),
    duration: Math.round(totalMs * 1e6),
    names,
    services: serviceNames,
    projects: [{ id: PROJECT, name: "shop" }],
    spans: {
      ids: nodes.map(({ span }) => span.spanId),
      parents: nodes.map(({ parent }, i) => (parent < 0 ? 0 : i - parent)),
      names: nodes.map(({ span }) => names.indexOf(span.name)),
      services: nodes.map(({ span }) => serviceNames.indexOf(span.serviceName)),
      projects: nodes.map(() => 0),
      kinds: nodes.map(({ span }) => span.spanKind),
      statuses: nodes.map(({ span }) => span.statusCode),
      httpStatuses: nodes.map(({ span }) => span.httpStatus ?? 0),
      starts: nodes.map(({ startMs }, i) => Math.round((startMs - (i ? nodes[i - 1].startMs : 0)) * 1e6)),
      durations: nodes.map(({ span }) => span.duration),
      own: nodes.map(({ selfMs }) => Math.round(selfMs * 1e6)),
    },
    offset: 0,
    ancestors: 0,
    missingParents: missing,
    entities: nodes.flatMap(({ span }, place) =>
      (["endpoint", "task", "ai_trace"] as const)
        .filter((_, kind) => [span.isEndpoint, span.isTask, span.isAiTrace][kind])
        .map((traceType) => ({ place, traceType, id: span.entityId ?? PROJECT, name: span.entityName ?? span.name })),
    ),
    timeByService: services.map((one) => ({
      service: one.name,
      operation: "",
      spans: one.spans,
      errors: nodes.filter((node) => node.error && node.span.serviceName === one.name).length,
      own: Math.round(one.selfMs * 1e6),
    })),
    timeByOperation: operations
      .map(([key, { spans, errors, own }]) => {
        const [service, operation] = key.split("\n");
        return { service, operation, spans, errors, own };
      })
      .sort((a, b) => b.own - a.own)
      .slice(0, 100),
    calls: calls.map(([key, { spans, errors, duration }]) => {
      const [from, to] = key.split("\n");
      return { from, to, calls: spans, errors, duration };
    }),
    errors: nodes.filter((node) => node.error).length,
    spanGraphStatus: {
      state: missing.length ? "partial" : "complete",
      reasons: missing.length ? ["missing_parents"] : [],
      total: nodes.length,
      shown: nodes.length,
    },
    linkedTraceIds: [],
    exceptions:
      traceId === BIG_TRACE
        ? []
        : issueDetail(DECLINED, {
            fromDate: "",
            toDate: "",
            pagination: { page: 1, pageSize: 1 },
          } as Body).occurrences!.map((one) => ({
            ...one,
            spanId: nodes.find(({ span }) => span.name === "POST /charge")!.span.spanId,
          })),
    aiTraces: [],
  };
}

export function spanPage(body: Body): t.SpanPage {
  const { from, to } = span(body);
  const next = random(77);
  const base = shopSpans(boot);
  const all = Array.from({ length: 320 }, (_, i) => ({
    ...base[body.rootsOnly ? 0 : i % base.length],
    spanId: i ? hex(next, 16) : base[0].spanId,
    traceId: i === 0 ? SHOP_TRACE : i === 1 ? BIG_TRACE : hex(next, 32),
    startTime: iso(to - ((to - from) / 320) * i),
    duration: Math.round(next() ** 3 * 2.4e9),
    statusCode: next() < 0.1 ? 2 : 0,
  }));
  const rows = all.filter(
    (one) =>
      one.name.toLowerCase().includes(String(body.name ?? "").toLowerCase()) &&
      (!body.serviceName || one.serviceName === body.serviceName) &&
      (!body.status || one.statusCode === body.status),
  );
  return {
    ...page(sorted(rows, body, { start_time: "startTime", duration: "duration" }), body),
    services: ["storefront", "cart", "payments", "mailer"],
    isPartial: false,
  };
}

/** Traces of the time range; `query` finds by the name only. */
export function traceSearchPage(body: Body): t.TraceSearchPage {
  const { from, to } = span(body);
  const next = random(91);
  const names = ["POST /checkout", "GET /products/:slug", "GET /cart", "mail.send"];
  const all: t.TraceRow[] = Array.from({ length: 640 }, (_, i) => {
    const share = 0.3 + next() * 0.5;
    const errors = next() < 0.08 ? 1 + Math.floor(next() * 3) : 0;
    return {
      traceId: i === 0 ? SHOP_TRACE : i === 1 ? BIG_TRACE : hex(next, 32),
      name: names[i % names.length],
      serviceName: i % 4 === 3 ? "mailer" : "storefront",
      spanKind: 2,
      httpStatus: i % 4 === 3 ? undefined : errors ? 500 : 200,
      hasMissingParent: i % 4 === 3,
      startTime: iso(to - ((to - from) / 640) * (i + next())),
      duration: Math.round(10 ** (6 + next() * 3.4)),
      spans: 2 + Math.floor(next() * 60),
      errors,
      services: [
        { service: "payments", spans: 3, share },
        { service: "storefront", spans: 2, share: 1 - share },
      ],
    };
  });
  const rows = all.filter(
    (one) =>
      one.name.toLowerCase().includes(String(body.query ?? "").toLowerCase()) &&
      one.duration / 1e6 >= Number(body.minDurationMs ?? 0) &&
      one.duration / 1e6 <= Number(body.maxDurationMs ?? Number.POSITIVE_INFINITY),
  );
  return {
    ...page(
      sorted(rows, body, { start_time: "startTime", duration: "duration", spans: "spans", errors: "errors" }),
      body,
    ),
    points: {
      sampleRate: 1,
      traceIds: rows.map((one) => one.traceId),
      starts: rows.map((one) => Date.parse(one.startTime)),
      durations: rows.map((one) => one.duration / 1e6),
      errors: rows.map((one) => one.errors > 0),
    },
    complete: true,
  };
}
