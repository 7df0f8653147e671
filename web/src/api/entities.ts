// Endpoints, tasks and AI traces: where each kind is asked for, and the field that holds a name in requests and charts.
import type { OrderOf } from "./routes";

export const ENTITIES = {
  endpoint: {
    groups: "/api/endpoints/grouped",
    rows: "/api/endpoints/endpoint",
    chart: "/api/endpoints/chart",
    field: "endpoint",
  },
  task: { groups: "/api/tasks/grouped", rows: "/api/tasks/task", chart: "/api/tasks/chart", field: "task" },
  aiTrace: {
    groups: "/api/ai-traces/grouped",
    rows: "/api/ai-traces/trace",
    chart: "/api/ai-traces/chart",
    field: "trace",
  },
} as const;

export type EntityKind = keyof typeof ENTITIES;
/** What the groups of a kind can be sorted by. */
export type GroupOrder<K extends EntityKind> = OrderOf<(typeof ENTITIES)[K]["groups"]>;
/** What the single rows of a kind can be sorted by. */
export type RowOrder<K extends EntityKind> = OrderOf<(typeof ENTITIES)[K]["rows"]>;
