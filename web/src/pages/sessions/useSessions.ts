import { usePost } from "../../api/hooks";
import { useRange } from "../../api/range";
import type { PostRoutes } from "../../api/routes";
import { parseFilters } from "../../model/search";
import type { SessionsSearch } from "../../model/telemetry-search";

type Body = PostRoutes["/api/sessions"]["body"];

/** The request of the list. */
export function sessionsQuestion(search: SessionsSearch, list: Body) {
  const text = search.q ?? "";
  const isId = /^[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/i.test(text.trim());
  const body: Body = {
    ...list,
    search: isId ? text : "",
    query: isId ? "" : text,
    user: search.user,
    page: search.path,
    browser: search.browser,
    minDurationMs: search.min && search.min * 1000,
    maxDurationMs: search.max && search.max * 1000,
    hasErrors: search.errors,
    attributeFilters: parseFilters(search.attr),
  };
  return { route: "/api/sessions" as const, body };
}

export function useSessions({ route, body }: ReturnType<typeof sessionsQuestion>) {
  const { every } = useRange();
  return usePost(route, body, { every: every ? every * 1000 : undefined });
}
