// Turns a recorded segment into rrweb events that are safe to build. A copy with known fields only: no scripts, no event
// handlers, no addresses outside the recording, no focus, and a bound on size and depth.
//
// This is the second of three walls. The first is the frame (no scripts, an origin of its own), the third the policy
// (no network). See docs/use/replay.md.
import { cleanCss, isInside } from "./css";
import type { NotLoaded } from "./protocol";

/** Nodes of one page, including those added later. */
export const NODES_MAX = 60_000;
/** Levels of a page. Browsers stop parsing at 512. */
export const DEPTH_MAX = 300;
const EVENTS_MAX = 200_000;
const TEXT_CHARS_MAX = 200_000;

export interface CleanEvent {
  type: number;
  timestamp: number;
  data: Record<string, unknown>;
}

export interface Cleaned {
  events: CleanEvent[];
  notLoaded: NotLoaded;
  /** Part of the recording was left out because it is too large. */
  isCut: boolean;
}

type Raw = Record<string, unknown>;
type Attributes = Record<string, unknown>;

interface State {
  nodes: number;
  isCut: boolean;
  lost: NotLoaded;
  /** Ids of style elements and of the text nodes inside, whose later changes are CSS. */
  styles: Set<number>;
}

/** rrweb's event types and the sources of its incremental events. */
const FULL_SNAPSHOT = 2;
const INCREMENTAL = 3;
const META = 4;
const DOCUMENT = 0;
const DOCTYPE = 1;
const ELEMENT = 2;
const TEXT = 3;
const CDATA = 4;
const COMMENT = 5;

/** A grey square in place of an image of another server. */
const NO_IMAGE =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='48' height='48'%3E%3Crect width='48' height='48' fill='%23d5d9df'/%3E%3Cpath d='M0 48L48 0M-12 12L12 -12M36 60L60 36' stroke='%23b4bac4' stroke-width='2'/%3E%3C/svg%3E";

/** Attributes that hold an address, lead away, take the focus or run code. `src`, `href` and `poster` have own rules. */
const DROPPED = new Set(
  "srcset sizes imagesrcset imagesizes srcdoc data classid codebase archive action formaction formtarget ping manifest background longdesc cite dynsrc lowsrc profile usemap http-equiv nonce integrity is autofocus accesskey target download autoplay loading allow sandbox csp attributionsrc popovertarget commandfor".split(
    " ",
  ),
);
const SMIL = new Set(["animate", "set", "animatetransform", "animatemotion"]);

const object = (value: unknown): Raw | null =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Raw) : null;
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const number = (value: unknown): number | null => (typeof value === "number" && Number.isFinite(value) ? value : null);
const text = (value: unknown): string => (typeof value === "string" ? value : "");
const objects = (value: unknown): Raw[] =>
  list(value)
    .map(object)
    .filter((one) => one !== null);

/** `raw` is the array of a segment's events; anything else is an empty recording. */
export function cleanEvents(raw: unknown): Cleaned {
  const most = nothing();
  const state: State = { nodes: 0, isCut: false, lost: nothing(), styles: new Set() };
  const events: CleanEvent[] = [];
  for (const one of list(raw)) {
    const event = object(one);
    const timestamp = number(event?.timestamp);
    const data = object(event?.data);
    if (!event || timestamp === null || !data) continue;
    if (events.length >= EVENTS_MAX) {
      state.isCut = true;
      break;
    }
    // Each snapshot shows the same page again: their sum would count one image many times.
    if (event.type === FULL_SNAPSHOT) keepMost(most, state.lost);
    const clean = cleanData(number(event.type), data, state);
    if (clean) events.push({ type: event.type as number, timestamp, data: clean });
  }
  keepMost(most, state.lost);
  return { events, notLoaded: most, isCut: state.isCut };
}

const nothing = (): NotLoaded => ({ images: 0, styles: 0, fonts: 0, other: 0 });

/** Raises `most` to what one page lacks, and starts to count anew. */
function keepMost(most: NotLoaded, lost: NotLoaded): void {
  for (const key of ["images", "styles", "fonts", "other"] as const) {
    most[key] = Math.max(most[key], lost[key]);
    lost[key] = 0;
  }
}

function cleanData(type: number | null, data: Raw, state: State): Raw | null {
  if (type === META) {
    const [width, height] = [number(data.width), number(data.height)];
    return width && height ? { href: "", width: bounded(width), height: bounded(height) } : null;
  }
  if (type === FULL_SNAPSHOT) {
    state.nodes = 0;
    state.styles.clear();
    const node = cleanNode(object(data.node), 0, state, false);
    const offset = object(data.initialOffset);
    if (!node || node.type !== DOCUMENT) return null;
    return { node, initialOffset: { left: number(offset?.left) ?? 0, top: number(offset?.top) ?? 0 } };
  }
  return type === INCREMENTAL ? cleanIncremental(data, state) : null;
}

const bounded = (length: number) => Math.max(1, Math.min(20_000, Math.round(length)));

/** Numbers of `raw` under these names; absent ones stay absent. */
function numbers(raw: Raw, ...names: string[]): Raw {
  const out: Raw = {};
  for (const name of names) if (number(raw[name]) !== null) out[name] = raw[name];
  return out;
}

function cleanIncremental(data: Raw, state: State): Raw | null {
  const { source } = data;
  const { lost } = state;
  switch (source) {
    case 0:
      return cleanMutation(data, state);
    case 1: // mouse
    case 6: // touch
    case 12: {
      const positions = objects(data.positions).map((one) => ({
        x: 0,
        y: 0,
        id: -1,
        timeOffset: 0,
        ...numbers(one, "x", "y", "id", "timeOffset"),
      }));
      return positions.length ? { source, positions } : null;
    }
    case 2: // click and the like
      return { source, ...numbers(data, "type", "id", "x", "y", "pointerType") };
    case 3: // scroll
      return { source, x: 0, y: 0, ...numbers(data, "id", "x", "y") };
    case 4: {
      const [width, height] = [number(data.width), number(data.height)];
      return width && height ? { source, width: bounded(width), height: bounded(height) } : null;
    }
    case 5: // input
      return {
        source,
        ...numbers(data, "id"),
        text: text(data.text).slice(0, TEXT_CHARS_MAX),
        isChecked: data.isChecked === true,
      };
    case 8: // style sheet rules
      return {
        source,
        ...numbers(data, "id", "styleId"),
        adds: cleanRules(data.adds, lost),
        removes: objects(data.removes).map((one) => ({ index: indexOf(one.index) })),
        ...(typeof data.replace === "string" ? { replace: cleanCss(data.replace, lost) } : {}),
        ...(typeof data.replaceSync === "string" ? { replaceSync: cleanCss(data.replaceSync, lost) } : {}),
      };
    case 13: {
      // one declaration
      const [set, remove] = [object(data.set), object(data.remove)];
      return {
        source,
        ...numbers(data, "id", "styleId"),
        index: indexOf(data.index),
        ...(set
          ? {
              set: {
                property: text(set.property),
                value: cleanCss(text(set.value), lost),
                priority: text(set.priority),
              },
            }
          : {}),
        ...(remove ? { remove: { property: text(remove.property) } } : {}),
      };
    }
    case 14: // selection
      return {
        source,
        ranges: objects(data.ranges).map((one) => numbers(one, "start", "startOffset", "end", "endOffset")),
      };
    case 15: // adopted style sheets
      return {
        source,
        ...numbers(data, "id"),
        styleIds: list(data.styleIds).filter((id) => number(id) !== null),
        styles: objects(data.styles).map((one) => ({
          ...numbers(one, "styleId"),
          rules: cleanRules(one.rules, lost),
        })),
      };
    default: // media, canvas, fonts, custom elements
      return null;
  }
}

function cleanRules(rules: unknown, lost: NotLoaded): Raw[] {
  return objects(rules).map((one) => ({
    rule: cleanCss(text(one.rule), lost),
    ...(one.index === undefined ? {} : { index: indexOf(one.index) }),
  }));
}

/** Position of a rule, or path of positions into nested rules. */
function indexOf(value: unknown): number | number[] {
  return Array.isArray(value) ? value.map((one) => number(one) ?? 0) : (number(value) ?? 0);
}

function cleanMutation(data: Raw, state: State): Raw {
  const adds = objects(data.adds).flatMap((one) => {
    const parent = number(one.parentId);
    const node = cleanNode(object(one.node), 0, state, parent !== null && state.styles.has(parent));
    if (!node || parent === null) return [];
    const { previousId = null, nextId = null } = numbers(one, "previousId", "nextId");
    return [{ parentId: parent, previousId, nextId, node }];
  });
  return {
    source: 0,
    texts: objects(data.texts).map((one) => {
      const value = text(one.value).slice(0, TEXT_CHARS_MAX);
      return { ...numbers(one, "id"), value: state.styles.has(one.id as number) ? cleanCss(value, state.lost) : value };
    }),
    attributes: objects(data.attributes).map((one) => ({
      ...numbers(one, "id"),
      attributes: cleanAttributes("", object(one.attributes), state),
    })),
    removes: objects(data.removes).map((one) => ({
      ...numbers(one, "parentId", "id"),
      ...(one.isShadow === true ? { isShadow: true } : {}),
    })),
    adds,
    ...(data.isAttachIframe === true ? { isAttachIframe: true } : {}),
  };
}

function cleanNode(raw: Raw | null, depth: number, state: State, inStyle: boolean): Raw | null {
  const id = number(raw?.id);
  if (!raw || id === null) return null;
  if (depth > DEPTH_MAX || state.nodes >= NODES_MAX) {
    state.isCut = true;
    return null;
  }
  state.nodes++;
  const common: Raw = { id, ...numbers(raw, "rootId"), ...(raw.isShadow === true ? { isShadow: true } : {}) };
  switch (raw.type) {
    case DOCUMENT:
      return {
        ...common,
        type: DOCUMENT,
        ...(raw.compatMode === "BackCompat" ? { compatMode: "BackCompat" } : {}),
        childNodes: cleanChildren(raw.childNodes, depth, state, false),
      };
    case DOCTYPE:
      return { ...common, type: DOCTYPE, name: "html", publicId: "", systemId: "" };
    case ELEMENT:
      return cleanElement(raw, common, depth, state);
    case TEXT:
    case CDATA: {
      const isStyle = inStyle || raw.isStyle === true;
      if (isStyle) state.styles.add(id);
      const content = text(raw.textContent);
      return {
        ...common,
        type: TEXT,
        textContent: isStyle ? cleanCss(content, state.lost) : content.slice(0, TEXT_CHARS_MAX),
        ...(isStyle ? { isStyle: true } : {}),
      };
    }
    case COMMENT:
      return { ...common, type: COMMENT, textContent: "" };
    default:
      return null;
  }
}

function cleanChildren(raw: unknown, depth: number, state: State, inStyle: boolean): Raw[] {
  const out: Raw[] = [];
  for (const one of list(raw)) {
    const child = cleanNode(object(one), depth + 1, state, inStyle);
    if (child) out.push(child);
    else if (state.nodes >= NODES_MAX) break;
  }
  return out;
}

function cleanElement(raw: Raw, common: Raw, depth: number, state: State): Raw | null {
  const name = text(raw.tagName).toLowerCase();
  if (!/^[a-z][a-z0-9._-]{0,80}$/.test(name)) return null;
  if (name === "style") state.styles.add(common.id as number);
  const isScript = name === "script" || name === "noscript" || name === "template";
  const isSvg = raw.isSVG === true;
  return {
    ...common,
    type: ELEMENT,
    // The names of SVG elements are case-sensitive.
    tagName: isScript ? "noscript" : isSvg ? text(raw.tagName) : name,
    attributes: isScript ? {} : cleanAttributes(name, object(raw.attributes), state),
    childNodes: isScript ? [] : cleanChildren(raw.childNodes, depth, state, name === "style"),
    ...(isSvg && !isScript ? { isSVG: true } : {}),
    ...(raw.needBlock === true ? { needBlock: true } : {}),
    ...(raw.isShadowHost === true ? { isShadowHost: true } : {}),
  };
}

/** `tag` is "" for changes of an element that is known by its id only. */
function cleanAttributes(tag: string, raw: Raw | null, state: State): Attributes {
  const out: Attributes = {};
  if (!raw || tag === "meta" || tag === "base") return out;
  const css = typeof raw._cssText === "string" ? cleanCss(raw._cssText, state.lost) : null;
  if (tag === "link") {
    if (css !== null) return { rel: "stylesheet", _cssText: css };
    if (/\b(?:stylesheet|preload)\b/i.test(text(raw.rel))) state.lost.styles++;
    return out;
  }
  if (css !== null) out._cssText = css;
  for (const [name, value] of Object.entries(raw)) {
    const clean = cleanAttribute(tag, name, value, state);
    if (clean !== undefined) out[name] = clean;
  }
  if (tag === "img" && out.src === undefined && raw.src && !out.rr_dataURL) out.src = NO_IMAGE;
  return out;
}

/** The value to build; undefined drops the attribute. Null removes it from the element. */
function cleanAttribute(tag: string, name: string, value: unknown, state: State): unknown {
  const { lost } = state;
  const lower = name.toLowerCase();
  if (!/^[a-z_:][\w:.-]*$/i.test(name) || lower === "__proto__" || lower === "_csstext") return undefined;
  if (lower.startsWith("on") || DROPPED.has(lower)) return undefined;
  if (value === null) return null;
  if (lower.startsWith("rr_")) return cleanExtra(lower, value);
  if (lower === "style")
    return object(value) ? cleanStyleChange(object(value) ?? {}, lost) : cleanCss(text(value), lost);
  if (typeof value === "boolean" || number(value) !== null) return value;
  if (typeof value !== "string") return undefined;
  if (lower === "href" || lower === "xlink:href") return cleanHref(tag, value, lost);
  if (lower === "src" || lower === "poster") return cleanSource(tag, lower, value, lost);
  if (SMIL.has(tag) && (lower === "attributename" ? /href|^on|src/i.test(value) : /[:\\]/.test(value)))
    return undefined;
  if (/url\s*\(|image-set|\\/i.test(value) && !["value", "title", "alt", "placeholder", "class"].includes(lower))
    return cleanCss(value, lost);
  return value.slice(0, TEXT_CHARS_MAX);
}

/** rrweb's own attributes: sizes, scroll positions and pictures. */
function cleanExtra(name: string, value: unknown): unknown {
  if (name === "rr_dataurl") return /^data:image\//i.test(text(value)) ? value : undefined;
  if (["rr_width", "rr_height", "rr_left", "rr_top"].includes(name))
    return /^-?[\d.]+(?:px)?$/.test(String(value)) ? value : undefined;
  if (["rr_scrollleft", "rr_scrolltop"].includes(name)) return number(value) ?? undefined;
  return name === "rr_open_mode" && (value === "modal" || value === "non-modal") ? value : undefined;
}

/** Links keep their look and lose their target. */
function cleanHref(tag: string, value: string, lost: NotLoaded): string | undefined {
  const address = value.trim();
  if (tag === "image" || tag === "feimage") {
    if (address.startsWith("#") || /^data:image\//i.test(address)) return address;
    lost.images++;
    return undefined;
  }
  if (tag === "a" || tag === "area") return "#";
  // Of an element that is known by its id, or a reference inside SVG.
  return address.startsWith("#") ? address : tag === "" ? "#" : undefined;
}

function cleanSource(tag: string, name: string, value: string, lost: NotLoaded): string | undefined {
  const address = value.trim();
  if (/^data:image\//i.test(address) && tag !== "iframe" && tag !== "frame" && tag !== "embed") return address;
  if (address === "" || isInside(address)) return undefined;
  if (tag === "img" || tag === "input" || name === "poster") lost.images++;
  else if (tag !== "") lost.other++;
  return tag === "img" ? NO_IMAGE : undefined;
}

/** `{ width: "3px", color: ["red", "important"], top: false }`: changes of an inline style. */
function cleanStyleChange(raw: Raw, lost: NotLoaded): Raw {
  const out: Raw = {};
  for (const [name, value] of Object.entries(raw)) {
    if (!/^-?[a-z_][\w-]*$/i.test(name) && !name.startsWith("--")) continue;
    if (name === "__proto__") continue;
    if (value === false) out[name] = false;
    else if (typeof value === "string") out[name] = cleanCss(value, lost);
    else if (Array.isArray(value)) out[name] = [cleanCss(text(value[0]), lost), text(value[1])];
  }
  return out;
}
