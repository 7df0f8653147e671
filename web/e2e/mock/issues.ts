// Issues and their occurrences.
import type * as t from "../../src/model/types";
import { user } from "./account.ts";
import { type Body, boot, iso, page, sorted, trend } from "./common.ts";
import { pick, random, uuid } from "./random.ts";
import { RECORDED_SESSION } from "./sessions.ts";
import { PY_STACK, SHOP_TRACE, shopSpans } from "./trace.ts";

const JS_STACK = `TypeError: Cannot read properties of undefined (reading 'total')
    at cartTotal (/srv/storefront/src/cart/total.ts:18:24)
    at renderSummary (/srv/storefront/src/checkout/summary.ts:52:11)
    at Layer.handle [as handle_request] (/srv/storefront/node_modules/express/lib/router/layer.js:95:5)
    at next (/srv/storefront/node_modules/express/lib/router/route.js:149:13)
    at Route.dispatch (/srv/storefront/node_modules/express/lib/router/route.js:119:3)
    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)`;

/** The issue of the shop's trace. */
export const DECLINED = "a41f09c2be7710d3";
const ISSUES: [string, string, string, string, number, "endpoint" | "task" | null, string, string][] = [
  [
    DECLINED,
    "CardDeclined",
    "card_declined: insufficient funds",
    PY_STACK,
    1214,
    "endpoint",
    "POST /charge",
    "payments",
  ],
  [
    "0d6c1e99ab20f417",
    "TypeError",
    "Cannot read properties of undefined (reading 'total')",
    JS_STACK,
    388,
    "endpoint",
    "POST /checkout",
    "storefront",
  ],
  [
    "77aa31c0de55e801",
    "SMTPServerDisconnected",
    "Connection unexpectedly closed: timed out while talking to the relay server in the second data centre",
    PY_STACK.replaceAll("CardDeclined", "SMTPServerDisconnected"),
    33,
    "task",
    "order.failed process",
    "mailer",
  ],
  [
    "f0f0c2be7710d3a4",
    "java.util.concurrent.TimeoutException",
    "no answer from inventory in 2000 ms",
    "java.util.concurrent.TimeoutException: no answer from inventory in 2000 ms\n\tat com.acme.inventory.Client.get(Client.java:112)\n\tat com.acme.search.Ranker.rank(Ranker.java:48)\n\tat org.springframework.web.servlet.DispatcherServlet.doDispatch(DispatcherServlet.java:1089)\n\tat java.base/java.lang.Thread.run(Thread.java:1583)\nCaused by: java.net.SocketTimeoutException: Read timed out\n\tat java.base/sun.nio.ch.NioSocketImpl.timedRead(NioSocketImpl.java:278)\n\t... 21 more",
    9,
    null,
    "",
    "search",
  ],
];

const states = new Map<string, t.IssueState>();
const assignees = new Map<string, number>();
const activity = new Map<string, t.IssueActivity[]>();

function record(hash: string, of: Partial<t.IssueActivity> & Pick<t.IssueActivity, "type">) {
  const entries = activity.get(hash) ?? [];
  activity.set(hash, [
    {
      id: entries.length + 1,
      at: iso(Date.now()),
      by: { userId: user.id, name: user.name, email: user.email },
      state: null,
      untilTime: null,
      untilCount: null,
      joinedIssues: null,
      ruleVersion: null,
      assignee: null,
      exceptionHash: "",
      comment: "",
      editedAt: null,
      ...of,
    },
    ...entries,
  ]);
}

export function setState(body: Body) {
  const { hashes, state } = body as unknown as { hashes: string[]; state: t.IssueState };
  for (const hash of hashes) {
    states.set(hash, state);
    record(hash, { type: "state", state });
  }
  return { changed: hashes.length };
}

export function assign(body: Body) {
  const { hashes, userId } = body as unknown as { hashes: string[]; userId: number | null };
  for (const hash of hashes) {
    userId ? assignees.set(hash, userId) : assignees.delete(hash);
    record(hash, { type: "assigned", assignee: userId ? user.name : null });
  }
  return { changed: hashes.length };
}

export function comment(hash: string, body: Body) {
  record(hash, { type: "comment", comment: String(body.comment) });
  return { id: activity.get(hash)?.length ?? 1 };
}

export function issueActivity(hash: string) {
  return { data: activity.get(hash) ?? [] };
}

export function issueGroups(body: Body): t.IssueGroup[] {
  const rows = ISSUES.map(([exceptionHash, exceptionType, message, stackTrace, amount, ownerType, ownerName], i) => ({
    exceptionHash,
    stackTrace,
    title: `${exceptionType}: ${message}`,
    exceptionType,
    message,
    count: amount,
    // One Issue is of sampled spans.
    storedCount: i === 1 ? Math.round(amount / 10) : amount,
    firstSeen: iso(boot - (i + 1) * 97_000_000),
    lastSeen: iso(Date.parse(body.toDate) - i * 4_100_000),
    hourlyTrend: trend(body, i + 90, amount / 24),
    isMessage: false,
    users: Math.round(amount / 3),
    firstOccurrence: iso(boot - (i + 1) * 97_000_000),
    firstVersion: "1.41.3",
    lastVersion: "1.42.0",
    archived: states.get(exceptionHash) === "archived",
    state: states.get(exceptionHash) ?? (i === 2 ? ("regressed" as const) : ("open" as const)),
    decision: null,
    assignee: assignees.has(exceptionHash) ? { userId: user.id, name: user.name, email: user.email } : null,
    mergedHashes: [],
    ownerType,
    ownerName,
  }));
  return sorted(
    rows.filter(
      (row) =>
        row.title.toLowerCase().includes((body.search ?? "").toLowerCase()) &&
        (body.states
          ? (body.states as t.IssueState[]).includes(row.state)
          : body.includeArchived || row.state === "open" || row.state === "regressed"),
    ),
    body,
    { last_seen: "lastSeen", first_seen: "firstSeen", count: "count", users: "users", newness: "firstOccurrence" },
  );
}

export function issueDetail(hash: string, body: Body): t.IssueDetail {
  const at = Math.max(
    0,
    ISSUES.findIndex((row) => row[0] === hash),
  );
  const issue = ISSUES[at];
  const full = { ...body, fromDate: body.fromDate || iso(boot - 864e5), toDate: body.toDate || iso(boot) };
  const next = random(at);
  const all: t.IssueOccurrence[] = Array.from({ length: Math.min(issue[4], 90) }, (_, i) => ({
    id: uuid(next),
    exceptionHash: hash,
    stackTrace: issue[3],
    rawStackTrace: null,
    exceptionType: issue[1],
    message: issue[2],
    recordedAt: iso(boot - i * 510_000),
    traceId: SHOP_TRACE,
    spanId: shopSpans(boot)[7].spanId,
    traceType: issue[5] ?? "",
    serverName: issue[7],
    appVersion: pick(next, ["1.42.0", "1.41.3"]),
    isMessage: false,
    hasRecording: at === 0 && i === 0,
    sessionId: at === 0 && i === 0 ? RECORDED_SESSION : "",
    attributes: {
      "customer.tier": pick(next, ["free", "pro"]),
      "order.id": String(8000 + i),
      "feature.flag": "new-checkout",
    },
    ownerType: issue[5],
    ownerName: issue[6],
    ownerId: uuid(next),
  }));
  const list = page(all, full);
  return {
    grouping: {
      basis: `2 application frames, type ${issue[0]}`,
      version: 2,
      components: [issue[0], "cart.ts total", "checkout.ts pay"],
      leftOut: ["library: router.js handle"],
      hashes: [],
    },
    group: {
      ...issueGroups({ ...full, search: "", states: null, includeArchived: true })[0],
      ...issueGroups({ ...full, search: "", states: null, includeArchived: true }).find(
        (row) => row.exceptionHash === hash,
      ),
    },
    occurrences: list.data,
    pagination: list.pagination,
    relatedEntity: issue[6]
      ? {
          traceType: issue[5]!,
          id: uuid(next),
          name: issue[6],
          statusCode: 500,
          duration: 1.02e9,
          recordedAt: iso(boot),
          traceId: SHOP_TRACE,
        }
      : null,
    taggedCount: 90,
    taggedStoredCount: 90,
    tags: [
      {
        key: "appVersion",
        values: [
          { value: "1.42.0", count: 71 },
          { value: "1.41.3", count: 19 },
        ],
      },
      { key: "serverName", values: [{ value: issue[7], count: 90 }] },
      {
        key: "customer.tier",
        values: [
          { value: "free", count: 52 },
          { value: "pro", count: 38 },
        ],
      },
    ].map((tag) => ({ ...tag, distinct: tag.values.length, count: 90, partial: false })),
    regression: null,
    commit: "",
  };
}
