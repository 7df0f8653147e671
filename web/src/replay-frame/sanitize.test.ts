import { expect, test } from "vitest";
import { cleanCss } from "./css";
import { readFrameMessage } from "./protocol";
import { cleanEvents, DEPTH_MAX, NODES_MAX } from "./sanitize";

const nothing = () => ({ images: 0, styles: 0, fonts: 0, other: 0 });
let id = 0;
const element = (tagName: string, attributes: object = {}, childNodes: object[] = [], more: object = {}) => ({
  id: ++id,
  type: 2,
  tagName,
  attributes,
  childNodes,
  ...more,
});
const words = (textContent: string, more: object = {}) => ({ id: ++id, type: 3, textContent, ...more });
const snapshot = (...childNodes: object[]) => ({
  type: 2,
  timestamp: 1,
  data: {
    node: { id: ++id, type: 0, childNodes: [element("html", {}, childNodes)] },
    initialOffset: { left: 0, top: 0 },
  },
});
const change = (data: object) => ({ type: 3, timestamp: 2, data });

interface Node {
  tagName?: string;
  attributes: Record<string, unknown>;
  childNodes: Node[];
  textContent?: string;
}
function built(...childNodes: object[]) {
  const cleaned = cleanEvents([snapshot(...childNodes)]);
  const html = (cleaned.events[0].data.node as Node).childNodes[0];
  return { ...cleaned, nodes: html.childNodes };
}

test.each([
  ["a{color:red}", "a{color:red}"],
  ["a{background:url(https://evil.example/a.png)}", 'a{background:url("data:,")}'],
  ["a{background:url( 'https://evil.example/a).png' ) , url(b.gif)}", 'a{background:url("data:,") , url("data:,")}'],
  ["a{background:url(data:image/png;base64,AA==)}", "a{background:url(data:image/png;base64,AA==)}"],
  ["a{fill:url(#grad)}", "a{fill:url(#grad)}"],
  ["a{background:url(data:text/html,<script>)}", 'a{background:url("data:,")}'],
  ['@import "https://evil.example/a.css";a{color:red}', "a{color:red}"],
  ["@IMPORT url('https://evil.example/a;b.css') screen; b{}", " b{}"],
  ["@import/**/'x.css'", ""],
  ["a{background:u\\72l(https://evil.example/x)}", 'a{background:url("data:,")}'],
  ["a{background:\\75\\72\\6c(https://evil.example/x)}", 'a{background:url("data:,")}'],
  ["@\\69mport 'https://evil.example/a.css';", ""],
  [".\\32xl\\:a{color:red}", ".\\32xl\\:a{color:red}"],
  ["a{background:url(https://evil.example/never-ends", "a{background:"],
  ["a{background:image-set('https://evil.example/a.png' 1x)}", "a{background:none}"],
  ["a{background:-webkit-image-set(url(https://e.example/a) 1x)}", 'a{background:-webkit-image-set(url("data:,") 1x)}'],
  [
    "@font-face{src:url(https://evil.example/a.woff2) format('woff2')}",
    "@font-face{src:url(\"data:,\") format('woff2')}",
  ],
])("style sheet %s", (css, expected) => {
  expect(cleanCss(css, nothing())).toBe(expected);
});

test("what a style sheet would load is counted", () => {
  const lost = nothing();
  cleanCss("@import 'a';b{background:url(c.png)}@font-face{src:url(d.woff2)}", lost);
  expect(lost).toEqual({ images: 1, styles: 1, fonts: 1, other: 0 });
});

test("long style sheets take time in proportion to their length", () => {
  const lost = nothing();
  expect(cleanCss("url( ".repeat(400_000), lost)).toBe("");
  expect(cleanCss("@import ".repeat(200_000), lost)).toBe("");
  expect(cleanCss("url('".repeat(400_000), lost).length).toBeLessThan(20);
  expect(cleanCss("x".repeat(5_000_000), lost)).toBe("");
});

test("scripts, templates and their contents are gone", () => {
  const { nodes } = built(
    element("script", { src: "https://evil.example/x.js" }, [words("alert(1)")]),
    element("SCRIPT", {}, [words("alert(1)")]),
    element("script", {}, [words("alert(1)")], { isSVG: true }),
    element("template", {}, [element("img", { src: "x", onerror: "alert(1)" })]),
  );
  expect(nodes.map(({ tagName, attributes, childNodes }) => [tagName, attributes, childNodes])).toEqual(
    Array.from({ length: 4 }, () => ["noscript", {}, []]),
  );
});

test.each<[string, object, object]>([
  [
    "img",
    { src: "https://evil.example/a", onerror: "alert(1)", ONLOAD: "x", alt: "a" },
    { alt: "a", src: expect.stringMatching(/^data:image\/svg/) },
  ],
  [
    "img",
    { src: "data:image/png;base64,AA==", srcset: "https://evil.example/2x 2x" },
    { src: "data:image/png;base64,AA==" },
  ],
  ["img", { src: "data:text/html,<script>alert(1)</script>" }, { src: expect.stringMatching(/^data:image\/svg/) }],
  ["img", { rr_dataURL: "https://evil.example/a", rr_width: "10px", rr_height: "expression(1)" }, { rr_width: "10px" }],
  [
    "a",
    { href: "javascript:alert(1)", target: "_top", ping: "https://evil.example/", class: "b" },
    { href: "#", class: "b" },
  ],
  ["form", { action: "https://evil.example/", method: "post" }, { method: "post" }],
  [
    "button",
    { formaction: "javascript:alert(1)", autofocus: true, accesskey: "s", disabled: true },
    { disabled: true },
  ],
  ["meta", { "http-equiv": "refresh", content: "0;url=https://evil.example/" }, {}],
  ["base", { href: "https://evil.example/" }, {}],
  ["link", { rel: "preconnect", href: "https://evil.example/" }, {}],
  ["link", { rel: "stylesheet", href: "https://evil.example/a.css" }, {}],
  [
    "link",
    { rel: "stylesheet", href: "/a.css", _cssText: "a{background:url(b)}" },
    { rel: "stylesheet", _cssText: 'a{background:url("data:,")}' },
  ],
  [
    "iframe",
    { src: "https://evil.example/", srcdoc: "<script>alert(1)</script>", width: "300", allow: "camera" },
    { width: "300" },
  ],
  ["object", { data: "https://evil.example/", type: "text/html" }, { type: "text/html" }],
  ["embed", { src: "data:image/svg+xml,<svg onload=alert(1)>" }, {}],
  [
    "video",
    {
      src: "https://evil.example/a.mp4",
      poster: "https://evil.example/p.png",
      autoplay: true,
      rr_mediaState: "played",
    },
    {},
  ],
  [
    "body",
    { background: "https://evil.example/a.png", style: "background:url(//evil.example/)", onload: "x" },
    { style: 'background:url("data:,")' },
  ],
  [
    "div",
    { is: "x-evil", "a b": "c", "x>": "y", style: "color:red", "data-a": "1" },
    { style: "color:red", "data-a": "1" },
  ],
  ["input", { value: "url(1)", type: "password" }, { value: "url(1)", type: "password" }],
])("attributes of %s %j", (tag, attributes, expected) => {
  expect(built(element(tag, attributes)).nodes[0].attributes).toEqual(expected);
});

test("SVG: references stay, addresses and animated addresses go", () => {
  const svg = { isSVG: true };
  const { nodes, notLoaded } = built(
    element("use", { "xlink:href": "#icon" }, [], svg),
    element("use", { href: "https://evil.example/s.svg#a" }, [], svg),
    element("image", { href: "https://evil.example/a.png" }, [], svg),
    element("rect", { fill: "url(https://evil.example/#a)" }, [], svg),
    element("animate", { attributeName: "href", to: "https://evil.example/" }, [], svg),
    element("linearGradient", { id: "g" }, [], svg),
  );
  expect(nodes.map(({ attributes }) => attributes)).toEqual([
    { "xlink:href": "#icon" },
    {},
    {},
    { fill: 'url("data:,")' },
    {},
    { id: "g" },
  ]);
  expect(nodes[5].tagName).toBe("linearGradient");
  expect(notLoaded.images).toBe(2);
});

test("keys of prototypes are no attributes", () => {
  const raw = JSON.parse(`[{"type":2,"timestamp":1,"__proto__":{"evil":1},"data":{"node":{"id":1,"type":0,"childNodes":[
    {"id":2,"type":2,"tagName":"p","attributes":{"__proto__":"x","constructor":"y","id":"z"},"childNodes":[]}]}}}]`);
  const { events } = cleanEvents(raw);
  const [node] = (events[0].data.node as Node).childNodes;
  expect(Object.keys(node.attributes).sort()).toEqual(["constructor", "id"]);
  expect(({} as { evil?: number }).evil).toBeUndefined();
});

test("later changes are cleaned as the page is", () => {
  const style = element("style", {}, [words("a{}", { isStyle: true })]);
  const styleText = style.childNodes[0] as { id: number };
  const { events } = cleanEvents([
    snapshot(style),
    change({
      source: 0,
      texts: [{ id: styleText.id, value: "b{background:url(https://evil.example/)}" }],
      attributes: [
        { id: 3, attributes: { src: "https://evil.example/", href: "javascript:alert(1)", onclick: "x", class: null } },
        { id: 4, attributes: { style: { background: "url(//e.example)", color: ["red", "important"], top: false } } },
      ],
      removes: [{ parentId: 1, id: 9, isShadow: true, more: 1 }],
      adds: [
        { parentId: style.id, nextId: null, node: words("@import 'x';") },
        { parentId: 1, previousId: null, nextId: 5, node: element("script", {}, [words("alert(1)")]) },
        { parentId: "no", node: words("lost") },
      ],
    }),
    change({ source: 8, id: 5, adds: [{ rule: "a{background:url(x)}", index: [0, 1] }], removes: [{ index: 2 }] }),
    change({ source: 13, id: 5, index: [1], set: { property: "background", value: "url(x)", priority: "" } }),
    change({ source: 15, id: 5, styleIds: [1, "a"], styles: [{ styleId: 1, rules: [{ rule: "@import 'x';" }] }] }),
    change({ source: 9, id: 5, commands: [] }),
    change({ source: 7, id: 5, type: 0 }),
    { type: 5, timestamp: 3, data: { tag: "x" } },
    { type: 6, timestamp: 3, data: { plugin: "rrweb/console" } },
  ]);
  const [mutation, rules, declaration, adopted, ...rest] = events
    .slice(1)
    .map(({ data }) => data as Record<string, never>);
  expect(mutation).toMatchObject({
    texts: [{ value: 'b{background:url("data:,")}' }],
    attributes: [
      { id: 3, attributes: { href: "#", class: null } },
      { id: 4, attributes: { style: { background: 'url("data:,")', color: ["red", "important"], top: false } } },
    ],
    removes: [{ parentId: 1, id: 9, isShadow: true }],
    adds: [{ node: { textContent: "" } }, { node: { tagName: "noscript", childNodes: [] } }],
  });
  expect(
    Object.keys((mutation as unknown as { attributes: { attributes: object }[] }).attributes[0].attributes),
  ).toEqual(["href", "class"]);
  expect(rules).toMatchObject({
    adds: [{ rule: 'a{background:url("data:,")}', index: [0, 1] }],
    removes: [{ index: 2 }],
  });
  expect(declaration).toMatchObject({ set: { value: 'url("data:,")' } });
  expect(adopted).toMatchObject({ styleIds: [1], styles: [{ styleId: 1, rules: [{ rule: "" }] }] });
  expect(rest).toEqual([]);
});

test("what several snapshots of a page lack counts once", () => {
  const page = () =>
    snapshot(
      element("img", { src: "https://cdn.example/a.png" }),
      element("img", { src: "https://cdn.example/b.png" }),
    );
  const late = change({
    source: 0,
    adds: [{ parentId: 1, nextId: null, node: element("img", { src: "//cdn.example/c" }) }],
  });
  expect(cleanEvents([page(), page(), late, page()]).notLoaded).toEqual({ ...nothing(), images: 3 });
});

test("deep and large pages are cut", () => {
  let deep: object = words("bottom");
  for (let i = 0; i < 5000; i++) deep = element("div", {}, [deep]);
  const cut = built(deep);
  expect(cut.isCut).toBe(true);
  let depth = 0;
  for (let node = cut.nodes[0]; node; node = node.childNodes[0]) depth++;
  expect(depth).toBeLessThanOrEqual(DEPTH_MAX);
  const wide = built(...Array.from({ length: NODES_MAX + 5 }, () => element("i")));
  expect([wide.isCut, wide.nodes.length <= NODES_MAX]).toEqual([true, true]);
  expect(built(element("p")).isCut).toBe(false);
});

test.each([
  [null],
  ["x"],
  [{}],
  [
    [
      null,
      1,
      "a",
      {},
      { type: 3 },
      { type: 2, timestamp: 1, data: { node: { type: 0 } } },
      { type: "2", timestamp: 1, data: {} },
    ],
  ],
])("%j plays nothing", (raw) => {
  expect(cleanEvents(raw).events).toEqual([]);
});

test("the page believes only messages of the protocol", () => {
  for (const message of [
    null,
    1,
    "time",
    [],
    { kind: "time" },
    { kind: "time", at: "1" },
    { kind: "time", at: -1 },
    { kind: "size", width: 0, height: 5 },
    { kind: "open" },
    { kind: "added", segment: 1, events: 2 },
    { kind: "added", segment: 1, events: 2, notLoaded: { images: "<b>" } },
  ])
    expect(readFrameMessage(message)).toBeNull();
  expect(readFrameMessage({ kind: "time", at: 5, more: 1 })).toEqual({ kind: "time", at: 5 });
  expect(readFrameMessage({ kind: "size", width: 1e9, height: 5 })).toEqual({ kind: "size", width: 20_000, height: 5 });
  expect(readFrameMessage({ kind: "failed", message: { toString: 1 } })).toBeNull();
  expect(readFrameMessage({ kind: "failed", message: "x".repeat(999) })).toEqual({
    kind: "failed",
    message: "x".repeat(300),
  });
  expect(readFrameMessage({ kind: "added", segment: 1, events: 2, notLoaded: nothing(), isCut: "yes" })).toEqual({
    kind: "added",
    segment: 1,
    events: 2,
    notLoaded: nothing(),
    isCut: false,
  });
});
