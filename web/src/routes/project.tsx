// The frame of the pages of a project.
import { createRoute, retainSearchParams } from "@tanstack/react-router";
import { COMPARISONS } from "../model/compare";
import { checkedValues } from "../model/global-filter";
import { oneOf, type Raw, text, whole } from "../model/search";
import { NotFound } from "../parts/NotFound";
import { Shell } from "../parts/Shell";
import { requireSession, root } from "./root";

/** Search of every page of a project. */
interface ProjectSearch {
  from?: string;
  to?: string;
  every?: number;
  cmp?: string;
  /** Selected services, see model/global-filter. */
  service?: string;
  /** Selected environments. */
  env?: string;
}
export const project = createRoute({
  getParentRoute: () => root,
  path: "/p/$pid",
  validateSearch: (raw: Raw): ProjectSearch => ({
    from: text(raw.from),
    to: text(raw.to),
    every: whole(raw.every, 1),
    cmp: oneOf(raw.cmp, COMPARISONS),
    service: checkedValues(raw.service),
    env: checkedValues(raw.env),
  }),
  search: { middlewares: [retainSearchParams(["from", "to", "every", "cmp", "service", "env"])] },
  beforeLoad: async ({ location }) => {
    await requireSession(location.href);
  },
  component: Shell,
  notFoundComponent: NotFound,
});
