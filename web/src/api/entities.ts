// Routes of endpoints, tasks and AI traces, and the field that holds the entity's name in requests and charts.
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
/** Sort orders of the groups of a kind. */
export type GroupOrder<K extends EntityKind> = OrderOf<(typeof ENTITIES)[K]["groups"]>;
/** Sort orders of the single rows of a kind. */
export type RowOrder<K extends EntityKind> = OrderOf<(typeof ENTITIES)[K]["rows"]>;
