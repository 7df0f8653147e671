// Name and description of a session, from its attributes.
type Attributes = Record<string, string>;

/** Attributes that name the user, in sessions without an id of the user. */
const USER_KEYS = ["user.email", "email", "user.name", "username"];

export function userOf({ userId, attributes }: { userId: string; attributes: Attributes }): string {
  if (userId) return userId;
  for (const key of USER_KEYS) if (attributes[key]) return attributes[key];
  return "";
}

/** "Firefox 140 on Linux", "Android 15 · Pixel 9"; "" if the session does not say. */
export function deviceOf({ browser, os, attributes }: { browser: string; os: string; attributes: Attributes }): string {
  if (browser) return os ? `${browser} on ${os}` : browser;
  const version = attributes["os.version"] ?? "";
  const system = os && version && !os.includes(version) ? `${os} ${version}` : os;
  const device = attributes["device.model"] ?? attributes["device.model.name"] ?? "";
  return [system, device].filter(Boolean).join(" · ");
}

/** The path of the page at the last report of the session. */
export function pageOf(attributes: Attributes): string {
  const path = attributes.path ?? attributes["url.path"];
  if (path) return path;
  const url = attributes.url ?? attributes["url.full"];
  if (url) return url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, "") || "/";
  const { screen = "" } = attributes;
  // Browsers send their resolution.
  return /^\d+x\d+$/.test(screen) ? "" : screen;
}

/** Where the traces of a browser's request are: its path, in a window around it. */
export function traceSearch(call: { at: number; url: string; durationMs: number | null }): {
  attr: string;
  from: string;
  to: string;
  all: true;
} {
  const path = call.url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, "").replace(/[?#].*$/, "") || "/";
  // The clocks of browsers and servers differ.
  const iso = (ms: number) => new Date(ms).toISOString();
  return {
    attr: `url.path=${path}`,
    from: iso(call.at - 60_000),
    to: iso(call.at + (call.durationMs ?? 0) + 60_000),
    all: true,
  };
}
