// Messages between the page and the frame that plays a recording, over one MessagePort. The frame holds text that came
// from outside, so the page validates every message of the frame.

/** Sent by the frame's outer document to the page when the player can take a port. */
export const FRAME_READY = "tidewatch:replay-frame";

/** Resources of the recorded page on other servers, which the player does not load. */
export interface NotLoaded {
  images: number;
  styles: number;
  fonts: number;
  other: number;
}

export type HostMessage =
  /** Times in milliseconds since the epoch; offsets are milliseconds after `startMs`. */
  | { kind: "open"; startMs: number; endMs: number }
  /** The JSON document of one segment. The buffer is transferred. */
  | { kind: "add"; segment: number; json: ArrayBuffer }
  | { kind: "play" }
  | { kind: "pause" }
  | { kind: "seek"; at: number }
  | { kind: "speed"; value: number };

export type FrameMessage =
  /** Result of one `add`: playable events, what was left out, and whether the page was too large to be built whole. */
  | { kind: "added"; segment: number; events: number; notLoaded: NotLoaded; isCut: boolean }
  /** The position while it plays. */
  | { kind: "time"; at: number }
  /** Size of the recorded page in CSS pixels. */
  | { kind: "size"; width: number; height: number }
  | { kind: "ended" }
  | { kind: "failed"; message: string };

const isCount = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value) && value >= 0;

/** The message if it has the shape of the protocol; null otherwise. */
export function readFrameMessage(value: unknown): FrameMessage | null {
  if (typeof value !== "object" || value === null) return null;
  const message = value as Record<string, unknown>;
  switch (message.kind) {
    case "added": {
      const lost = message.notLoaded as Record<string, unknown> | null | undefined;
      const { segment, events } = message;
      if (!isCount(segment) || !isCount(events) || typeof lost !== "object" || lost === null) return null;
      const { images, styles, fonts, other } = lost;
      if (!isCount(images) || !isCount(styles) || !isCount(fonts) || !isCount(other)) return null;
      const notLoaded = { images, styles, fonts, other };
      return { kind: "added", segment, events, notLoaded, isCut: message.isCut === true };
    }
    case "time":
      return isCount(message.at) ? { kind: "time", at: message.at } : null;
    case "size": {
      const { width, height } = message;
      if (!isCount(width) || !isCount(height) || width < 1 || height < 1) return null;
      return { kind: "size", width: Math.min(width, 20_000), height: Math.min(height, 20_000) };
    }
    case "ended":
      return { kind: "ended" };
    case "failed":
      return typeof message.message === "string" ? { kind: "failed", message: message.message.slice(0, 300) } : null;
    default:
      return null;
  }
}
