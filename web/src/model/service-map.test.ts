import { describe, expect, test } from "vitest";
import { edgeSearch, edgeWidth, edgeWords, errorLevel, layOut, type MapNode, perMinute } from "./service-map";

const ids = (text: string) => text.split(" ").map((id) => ({ id }));
const calls = (text: string) =>
  text
    .split(" ")
    .filter(Boolean)
    .map((pair) => ({ from: pair[0], to: pair[1] }));
const placed = (nodes: string, edges: string) =>
  [...layOut(ids(nodes), calls(edges))]
    .map(([id, { column, row }]) => `${id}${column}${row}`)
    .sort()
    .join(" ");

const node = (kind: MapNode["kind"], name: string): MapNode => ({
  id: `${kind}:${name}`,
  kind,
  name,
  versions: 0,
  stats: { calls: 0, errors: 0, perMinute: 0 },
});

describe("places of nodes", () => {
  for (const [rule, nodes, edges, expected] of [
    ["one node", "a", "", "a00"],
    ["a chain runs to the right", "a b c", "ab bc", "a00 b10 c20"],
    ["the longest way counts", "a b c", "ab bc ac", "a00 b10 c20"],
    ["callees share a column", "a b c", "ab ac", "a00 b10 c11"],
    ["a circle is cut where it is closed", "a b c", "ab bc ca", "a00 b10 c20"],
    ["the caller from outside begins a circle", "b c a", "bc cb ab", "a00 b10 c20"],
    ["no edge to itself", "a b", "aa ab", "a00 b10"],
    ["edges do not cross", "a b c d", "ad bc", "a00 b01 c11 d10"],
    ["edges of unknown nodes", "a b", "ab ax xb", "a00 b10"],
    ["nodes without edges are below", "a b x y z w", "ab", "a00 b10 w02 x01 y11 z21"],
    ["no nodes of a page", "a b", "", "a00 b10"],
  ] as const)
    test(rule, () => expect(placed(nodes, edges)).toBe(expected));

  test("the order of edges does not change the layers", () => {
    const nodes = ids("a b c d e f g");
    const edges = calls("ab ac bd cd de ef fb ag gc");
    const columns = (list: typeof edges) => [...layOut(nodes, list)].map(([id, { column }]) => `${id}${column}`).sort();
    expect(columns(edges.toReversed())).toEqual(columns(edges));
  });

  test("250 nodes with 1000 edges are placed apart", () => {
    const nodes = Array.from({ length: 250 }, (_, n) => ({ id: `n${n}` }));
    const edges = Array.from({ length: 1000 }, (_, n) => ({ from: `n${(n * 7) % 250}`, to: `n${(n * 13 + 5) % 250}` }));
    const places = [...layOut(nodes, edges).values()];
    expect(new Set(places.map(({ column, row }) => `${column} ${row}`)).size).toBe(250);
  });
});

test("edges are wider and redder with more calls and errors", () => {
  expect([edgeWidth(1, 1), edgeWidth(1, 1000), edgeWidth(1000, 1000)]).toEqual([1.25, 1.25, 7]);
  expect(edgeWidth(0, 1000)).toBe(1.25);
  expect([0, 1, 5].map((errors) => errorLevel({ calls: 100, errors }))).toEqual(["ok", "warn", "error"]);
  expect(errorLevel({ calls: 0, errors: 0 })).toBe("ok");
});

test("words of an edge", () => {
  const stats = { calls: 120, errors: 3, perMinute: 4 };
  const [web, cart, kafka] = [node("service", "web"), node("service", ""), node("messaging", "kafka orders")];
  expect(edgeWords(web, cart, stats)).toBe("web calls no service name 120 times (4/min), 2.5 % errors");
  expect(edgeWords(web, kafka, { ...stats, errors: 0 })).toBe("web sends to kafka orders 120 times (4/min)");
  expect(edgeWords(kafka, web, { calls: 30, perMinute: 4, errors: 0 })).toBe(
    "kafka orders delivers to web 30 times (4/min)",
  );
  expect(edgeWords(kafka, web, { calls: 1, perMinute: 1, errors: 0 })).toBe("kafka orders delivers to web 1 time");
  const overDay = (value: number) => perMinute({ calls: value * 1440, perMinute: value });
  expect([0, 1.25, 0.5, 0.001, 1234.4].map(overDay)).toEqual(["0/min", "1.3/min", "30/h", "1.4/d", "1,234/min"]);
  expect([2, 4, 6].map((minutes) => perMinute({ calls: minutes / 2, perMinute: 0.5 }))).toEqual([
    "1 call",
    "2 calls",
    "30/h",
  ]);
  expect(perMinute({ calls: 600, perMinute: 300 })).toBe("600 calls");
});

test("the search for the traces of an edge", () => {
  const [web, other] = [node("service", "web"), node("service", "a b")];
  expect(edgeSearch(web, other)).toBe('{service:web} > {service:"a b"}');
  expect(edgeSearch(web, node("database", "postgresql shop"))).toBe('{service:web peer:"postgresql shop"}');
  expect(edgeSearch(node("messaging", "kafka q"), web)).toBe('{service:web peer:"kafka q"}');
});
