// Projects at the extremes: without data, with one row of each kind, with 10,000, and with hostile content.
import type { Shop } from "./fixtures.ts";
import { mustPost, resourceLogs, resourceSpans, type SpanDraft } from "./otlp.ts";
import { newProject } from "./project.ts";

const hex = (value: number, digits: number) => value.toString(16).padStart(digits, "0");

/** Content that runs a script, loads an image or leaves its place on a page that does not escape it. */
export const MARKUP = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script></td></table><style>*{display:none}</style>`;
const RIGHT_TO_LEFT = "שלום عالم \u202e evil";
const EMOJI = "👩‍👩‍👧‍👦 🏳️‍🌈 e\u0301\u0302\u0303";
const LONG = `start-${"a".repeat(3000)}-end`;
const LINK = "[click](javascript:window.hacked=1) javascript:window.hacked=1";
const KILOBYTES_64 = `${MARKUP}${"0123456789abcdef".repeat(4096)}`.slice(0, 65_536);

/** Strings that pages show wherever a sender may choose one. */
export const STRINGS = [MARKUP, RIGHT_TO_LEFT, EMOJI, LONG, LINK];

/** A trace that pages of the hostile project show. */
export const HOSTILE_TRACE = hex(0xbad001, 32);

/** A request with a database call, an AI call and an exception, and a task. Every string is the given one. */
function drafts(text: string, number: number): SpanDraft[] {
  const id = (offset: number) => hex(0xbad0000 + number * 16 + offset, 16);
  const call = { "gen_ai.operation.name": "chat", "gen_ai.provider.name": text, "gen_ai.request.model": text };
  return [
    {
      id: id(0),
      name: text,
      kind: 2,
      at: 0,
      ms: 900,
      service: text,
      error: true,
      attributes: {
        "http.request.method": "GET",
        "http.route": `/${text}`,
        "http.response.status_code": 500,
        "user.id": text,
        [text.slice(0, 200)]: KILOBYTES_64,
      },
      events: [
        {
          name: "exception",
          at: 10,
          attributes: {
            "exception.type": text,
            "exception.message": `${text} ${KILOBYTES_64}`,
            "exception.stacktrace": `${text}: ${text}\n    at ${text} (${text}:1:1)`,
          },
        },
      ],
    },
    {
      id: id(1),
      parent: id(0),
      name: text,
      kind: 3,
      at: 20,
      ms: 300,
      service: text,
      attributes: { "db.system.name": text, "db.query.text": KILOBYTES_64, "server.address": text },
    },
    {
      id: id(2),
      parent: id(0),
      name: text,
      kind: 3,
      at: 350,
      ms: 300,
      service: text,
      attributes: {
        ...call,
        "trace.name": text,
        "user.id": text,
        "gen_ai.conversation.id": text,
        "gen_ai.prompt.name": text,
        "gen_ai.input.messages": JSON.stringify([{ role: text, content: text }]),
        "gen_ai.output.messages": JSON.stringify([{ role: "assistant", content: `${text}\n${KILOBYTES_64}` }]),
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 10,
      },
    },
    {
      id: id(3),
      parent: id(0),
      name: text,
      kind: 5,
      at: 700,
      ms: 100,
      service: text,
      attributes: { "messaging.system": "rabbitmq", "messaging.destination.name": text },
    },
  ];
}

async function send(shop: Shop, strings: string[], now: number): Promise<void> {
  const trace = (number: number) => (number === 0 ? HOSTILE_TRACE : hex(0xbad001 + number, 32));
  const spans = strings.flatMap((text, number) =>
    resourceSpans(trace(number), now - number * 1000, drafts(text, number)),
  );
  await mustPost(shop.url, shop.token, "traces", { resourceSpans: spans });
  const logs = strings.flatMap((text, number) => [
    { at: number, severity: 17, text, body: `${text} ${KILOBYTES_64}`, service: text, traceId: trace(number) },
    { at: number, severity: 9, text: "INFO", body: JSON.stringify({ [text]: text }), service: text },
  ]);
  await mustPost(shop.url, shop.token, "logs", { resourceLogs: resourceLogs(now, logs) });
  const metrics = strings.map((text) => ({
    name: text.slice(0, 200),
    unit: text.slice(0, 40),
    description: text,
    gauge: { dataPoints: [{ timeUnixNano: String(BigInt(now) * 1_000_000n), asDouble: 1e300, attributes: [] }] },
  }));
  const resource = { attributes: [{ key: "service.name", value: { stringValue: strings[0] } }] };
  await mustPost(shop.url, shop.token, "metrics", { resourceMetrics: [{ resource, scopeMetrics: [{ metrics }] }] });
}

/** A project of which every name, value, body and message is hostile. */
export async function hostileProject(shop: Shop): Promise<Shop> {
  const hostile = await newProject(shop, "hostile");
  await send(hostile, STRINGS, Date.now() - 60_000);
  return hostile;
}

/** A project with one row of each kind. */
export async function singleProject(shop: Shop): Promise<Shop> {
  const single = await newProject(shop, "single");
  await send(single, ["one"], Date.now() - 60_000);
  return single;
}

/** A project with 10,000 traces of 2,000 endpoints and 2,000 issues, and 10,000 log records. */
export async function manyProject(shop: Shop): Promise<Shop> {
  const many = await newProject(shop, "many");
  const now = Date.now() - 120_000;
  const step = 1000;
  for (let from = 0; from < 10_000; from += step) {
    const numbers = Array.from({ length: step }, (_, index) => from + index);
    const spans = numbers.flatMap((number) =>
      resourceSpans(hex(0x3a000000 + number, 32), now - number * 300, [
        {
          id: hex(0x3a000000 + number, 16),
          name: "request",
          kind: 2,
          at: 0,
          ms: 5 + (number % 400),
          service: `service-${number % 50}`,
          error: number % 5 === 0,
          attributes: {
            "http.request.method": "GET",
            "http.route": `/things/${number % 2000}`,
            "http.response.status_code": number % 5 === 0 ? 500 : 200,
          },
          events:
            number % 5 === 0
              ? [
                  {
                    name: "exception",
                    at: 1,
                    attributes: { "exception.type": `Fault${number}`, "exception.message": "it failed" },
                  },
                ]
              : [],
        },
      ]),
    );
    await mustPost(many.url, many.token, "traces", { resourceSpans: spans });
    const logs = numbers.map((number) => ({
      at: number,
      severity: 9,
      text: "INFO",
      body: `thing ${number} was counted`,
      service: `service-${number % 50}`,
    }));
    await mustPost(many.url, many.token, "logs", { resourceLogs: resourceLogs(now, logs) });
  }
  return many;
}
