// Log records and their histogram.

import { terms } from "../../src/model/query.ts";
import type * as t from "../../src/model/types";
import { type Body, boot, iso, span } from "./common.ts";
import { random } from "./random.ts";
import { PROJECT, SHOP_TRACE, shopSpans } from "./trace.ts";

const LOG_LINES: [string, number, string, string][] = [
  ["INFO", 9, "storefront", "request finished POST /checkout 502 1240 ms"],
  ["ERROR", 17, "payments", "capture failed: card_declined insufficient funds (order 8812)"],
  ["INFO", 9, "cart", "cart 8812 loaded, 4 items"],
  ["WARN", 13, "search", "slow query 1460 ms: SELECT id, title, price FROM products WHERE tsv @@ plainto_tsquery($1)"],
  ["DEBUG", 5, "cart", "cache miss cart:8812"],
  ["INFO", 9, "mailer", '{"event":"mail.queued","template":"order-failed","to":"c***@example.com","attempt":1}'],
  ["FATAL", 21, "search", "worker 3 lost its connection to the index, giving up after 5 tries"],
];

export function logs(body: Body): t.LogRow[] {
  const { from, to } = span({
    ...body,
    fromDate: body.fromDate ?? iso(boot - 864e5),
    toDate: body.toDate ?? iso(Date.now()),
  });
  const next = random(5);
  const all: t.LogRow[] = [];
  for (let i = 0; i < 4000; i++) {
    const [severityText, severityNumber, serviceName, text] =
      LOG_LINES[next() < 0.6 ? (next() < 0.5 ? 0 : 2) : Math.floor(next() * LOG_LINES.length)];
    const linked = next() < 0.6;
    all.push({
      id: `log-${i}`,
      timestamp: iso(to - ((to - from) / 4000) * i).replace("Z", "123456Z"),
      observedTimestamp: iso(to),
      severityText,
      severityNumber,
      project: { id: PROJECT, name: "shop" },
      serviceName,
      body: text,
      traceId: linked ? SHOP_TRACE : "",
      spanId: linked ? shopSpans(boot)[i % 11].spanId : "",
      resourceAttributes: {
        "service.name": serviceName,
        "host.name": `${serviceName}-6f8d9`,
        "k8s.pod.name": `${serviceName}-6f8d9-x2`,
      },
      scopeName: "winston",
      scopeAttributes: {},
      logAttributes: { "http.route": "/checkout", "order.id": String(8000 + (i % 50)) },
      eventName: "",
    });
  }
  return all
    .filter(
      (row) =>
        terms(String(body.query ?? "")).every((term) => meets(row, term.text)) &&
        row.severityNumber >= Number(body.minSeverity ?? 0) &&
        (!body.serviceName || row.serviceName === body.serviceName) &&
        (!body.traceId || row.traceId === body.traceId),
    )
    .slice(0, body.traceId ? 40 : 4000);
}

/** The mock knows words, and `service` and `level` compared with one value. */
function meets(row: t.LogRow, term: string): boolean {
  const [, not, key, value] = /^(-?)(service|level):(.+)$/.exec(term) ?? [];
  if (!key) return row.body.toLowerCase().includes(term.replaceAll('"', "").toLowerCase());
  const own = key === "service" ? row.serviceName : row.severityText.toLowerCase();
  return (own === value) !== (not === "-");
}

export function logFacets(body: Body): t.FacetAnswer {
  const rows = logs(body);
  const facet = (field: string, of: (row: t.LogRow) => string) => {
    const counts = new Map<string, number>();
    for (const row of rows) counts.set(of(row), (counts.get(of(row)) ?? 0) + 1);
    const values = [...counts].map(([value, count]) => ({ value, count })).sort((a, b) => b.count - a.count);
    return { field, values, more: false };
  };
  const data = [facet("level", (row) => row.severityText.toLowerCase()), facet("service", (row) => row.serviceName)];
  const isShown = rows.length > 0 && (body as { rows?: string }).rows === "log";
  return { data: isShown ? data : [], rows: rows.length, estimated: false };
}

export function logCompletions(body: Body): t.CompletionAnswer {
  const { field, prefix = "" } = body as { field?: string | null; prefix?: string };
  const known = ["level", "service", "tenant"].map((text) => ({ text, count: null, doc: "field" }));
  const values = logFacets({ ...body, query: "" }).data.find((one) => one.field === field);
  const counted = values?.values.map(({ value, count }) => ({ text: value, count, doc: null })) ?? [];
  return { data: (field ? counted : known).filter((one) => one.text.includes(prefix)), estimated: false };
}

export function logHistogram(body: Body): t.LogHistogram {
  const { from, to } = span(body);
  const minutes = Math.max(1, Math.round((to - from) / 60_000 / 80));
  const buckets = new Map<number, Record<string, number>>();
  const services = new Map<string, number>();
  for (const row of logs(body)) {
    const at = Math.floor(Date.parse(row.timestamp) / (minutes * 60_000)) * minutes * 60_000;
    const counts = buckets.get(at) ?? {};
    counts[row.severityText] = (counts[row.severityText] ?? 0) + 17;
    buckets.set(at, counts);
    services.set(row.serviceName, (services.get(row.serviceName) ?? 0) + 1);
  }
  return {
    buckets: [...buckets].sort((a, b) => a[0] - b[0]).map(([at, counts]) => ({ timestamp: iso(at), counts })),
    intervalMinutes: minutes,
    services: [...services].map(([name, count]) => ({ name, count })),
  };
}
