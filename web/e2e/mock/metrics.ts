// Metrics and their series.
import type * as t from "../../src/model/types";
import type { Body } from "./common.ts";
import { chart } from "./entities.ts";

export const METRICS: t.MetricInfo[] = [
  {
    name: "http.server.request.duration.avg",
    tagKeys: ["http.route", "server_name"],
    metricType: "gauge",
    unit: "s",
    pointCount: 18230,
  },
  {
    name: "http.server.request.duration.count",
    tagKeys: ["http.route", "server_name"],
    metricType: "counter",
    unit: "1",
    pointCount: 18230,
  },
  { name: "nodejs.eventloop.delay.p99", tagKeys: ["server_name"], metricType: "gauge", unit: "s", pointCount: 8640 },
  { name: "process.memory.usage", tagKeys: ["server_name"], metricType: "gauge", unit: "By", pointCount: 8640 },
  { name: "queue.length", tagKeys: ["queue", "server_name"], metricType: "gauge", unit: "1", pointCount: 2880 },
];

export function metricAnswer(body: {
  from: string;
  to: string;
  queries: { name: string; groupBy?: string }[];
}): t.MetricAnswer {
  const range = { fromDate: body.from, toDate: body.to } as Body;
  const minutes = Math.max(1, Math.round((Date.parse(body.to) - Date.parse(body.from)) / 60_000 / 72));
  const results = body.queries.map((query) => {
    const keys = query.groupBy ? ["storefront-1", "storefront-2", "cart-1", "search-1"] : ["__all__"];
    const series = Object.fromEntries(
      keys.map((key, n) => [
        key,
        chart({ ...range, endpoint: key }, [], "endpoint").series!.map((point) => ({
          timestamp: point.timestamp,
          value: (point.value / 60_000) * (n + 1),
        })),
      ]),
    );
    return {
      name: query.name,
      unit: METRICS.find((one) => one.name === query.name)?.unit ?? "",
      series,
      intervalMinutes: minutes,
    };
  });
  return { results, intervalMinutes: minutes };
}
