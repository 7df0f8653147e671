// The query of the log records that the filters of the Logs page select.

interface Filters {
  q?: string;
  level?: string;
  trace?: string;
  attr?: string;
}

/** Their query, without the service. Null when they select every record, or by attributes outside the query. */
export function logSelection({ q, level, trace, attr }: Filters): string | null {
  if (attr) return null;
  const parts = [
    q && (/\sOR\s/.test(q) ? `(${q})` : q),
    level && `level>=${level.toLowerCase()}`,
    trace && `trace_id:${trace}`,
  ];
  return parts.filter(Boolean).join(" ") || null;
}
