// Helpers of the mock's responses: request body, pages, sorting, times.
import type * as t from "../../src/model/types";
import { random } from "./random.ts";

export const boot = Date.now();

export const iso = (ms: number) => new Date(ms).toISOString();

export interface Body {
  fromDate: string;
  toDate: string;
  orderBy?: string;
  sortDirection?: string;
  search?: string;
  metricType?: string;
  pagination?: { page: number; pageSize: number };
  [key: string]: unknown;
}

export function page<T>(all: T[], body: Body): t.Page<T> {
  const { page: at = 1, pageSize = 20 } = body.pagination ?? {};
  return {
    data: all.slice((at - 1) * pageSize, at * pageSize),
    pagination: { page: at, pageSize, total: all.length, totalPages: Math.ceil(all.length / pageSize) },
  };
}

export const span = (body: Body) => ({ from: Date.parse(body.fromDate), to: Date.parse(body.toDate) });

export function trend(body: Body, seed: number, scale: number, gap = false): t.Point[] {
  const { from, to } = span(body);
  const next = random(seed);
  const step = (to - from) / 24;
  return Array.from({ length: 24 }, (_, i) => ({
    timestamp: iso(from + i * step),
    count: Math.round(scale * (0.5 + next()) * (1 + Math.sin(i / 3.5))),
  })).filter((_, i) => !gap || i < 9 || i > 13);
}

export function sorted<T>(rows: T[], body: Body, keys: Record<string, keyof T>): T[] {
  const key = keys[body.orderBy ?? ""] ?? Object.values(keys)[0];
  const sign = body.sortDirection === "asc" ? 1 : -1;
  return [...rows].sort((a, b) => ((a[key] ?? 0) < (b[key] ?? 0) ? -sign : (a[key] ?? 0) > (b[key] ?? 0) ? sign : 0));
}
