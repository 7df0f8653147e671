// Spans and whole traces.
import type * as t from "../../src/api/types";
import { type Body, boot, iso, page, sorted, span } from "./common.ts";
import { DECLINED, issueDetail } from "./issues.ts";
import { hex, random } from "./random.ts";
import { BIG_TRACE, bigSpans, PROJECT, SHOP_TRACE, shopSpans } from "./trace.ts";

export function traceAnswer(traceId: string): t.TraceAnswer {
  const spans =
    traceId === BIG_TRACE ? bigSpans(boot - 600_000) : shopSpans(boot - 300_000).map((one) => ({ ...one, traceId }));
  return {
    traceId,
    linkedTraceIds: [],
    nodes: [],
    spans,
    projects: [{ id: PROJECT, name: "shop" }],
    exceptions:
      traceId === BIG_TRACE
        ? []
        : issueDetail(DECLINED, {
            fromDate: "",
            toDate: "",
            pagination: { page: 1, pageSize: 1 },
          } as Body).occurrences!.map((one) => ({
            ...one,
            spanId: spans.find((s) => s.name === "POST /charge")!.spanId,
          })),
    spanGraphStatus:
      traceId === BIG_TRACE
        ? { state: "complete", reasons: [], total: spans.length, shown: spans.length }
        : { state: "partial", reasons: ["missing_parents"], total: spans.length, shown: spans.length },
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
      traceIds: rows.map((one) => one.traceId),
      starts: rows.map((one) => Date.parse(one.startTime)),
      durations: rows.map((one) => one.duration / 1e6),
      errors: rows.map((one) => one.errors > 0),
    },
    complete: true,
  };
}
