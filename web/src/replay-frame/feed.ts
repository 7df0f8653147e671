// Feeds rrweb's replayer segment by segment, in any order, and reports its position.
import { Replayer } from "@rrweb/replay";
import type { FrameMessage, HostMessage } from "./protocol";
import { type CleanEvent, cleanEvents } from "./sanitize";

type Events = ConstructorParameters<typeof Replayer>[0];

const FULL_SNAPSHOT = 2;
const META = 4;
const CUSTOM = 5;
/** Milliseconds between reports of the position. */
const REPORT_MS = 50;

export class EventFeed {
  private replayer: Replayer | null = null;
  /** In order of time, between two marks at the start and the end of the session. */
  private events: CleanEvent[] = [];
  private startMs = 0;
  private endMs = 0;
  private at = 0;
  private speed = 1;
  private isPlaying = false;
  private reportedAt = 0;
  private size = { width: 1280, height: 720 };

  constructor(
    private readonly root: HTMLElement,
    private readonly send: (message: FrameMessage) => void,
  ) {
    new ResizeObserver(() => this.fit()).observe(root);
  }

  take(message: HostMessage): void {
    switch (message.kind) {
      case "open":
        this.startMs = message.startMs;
        this.endMs = Math.max(message.endMs, message.startMs + 1);
        this.events = [mark(this.startMs), mark(this.endMs)];
        return;
      case "add":
        this.add(message.segment, message.json);
        return;
      case "play":
        this.isPlaying = true;
        this.replayer?.play(this.at);
        this.report();
        return;
      case "pause":
        this.isPlaying = false;
        this.at = this.position();
        this.replayer?.pause();
        return;
      case "seek":
        this.at = Math.max(0, Math.min(message.at, this.endMs - this.startMs));
        this.apply();
        return;
      case "speed":
        this.speed = message.value;
        this.replayer?.setConfig({ speed: message.value });
    }
  }

  private add(segment: number, json: ArrayBuffer): void {
    const document = JSON.parse(new TextDecoder().decode(json)) as { events?: unknown };
    const { events, notLoaded, isCut } = cleanEvents(document?.events);
    this.at = this.position();
    const known = new Map<number, CleanEvent[]>();
    for (const event of this.events) known.set(event.timestamp, [...(known.get(event.timestamp) ?? []), event]);
    for (const event of events) {
      // What came before a clip makes its first picture.
      event.timestamp = Math.max(this.startMs, event.timestamp);
      if (event.timestamp > this.endMs) continue;
      if (!known.get(event.timestamp)?.some((one) => isEqual(one, event))) this.events.push(event);
    }
    const rank = (event: CleanEvent) => (event.type === CUSTOM ? (event.timestamp >= this.endMs ? 2 : 0) : 1);
    // The sort is stable: events of one millisecond keep their order.
    this.events.sort((a, b) => a.timestamp - b.timestamp || rank(a) - rank(b));
    this.send({ kind: "added", segment, events: events.length, notLoaded, isCut });
    if (this.replayer) {
      const { events: fed } = this.replayer.service.state.context;
      fed.splice(0, fed.length, ...(this.events as unknown as Events as typeof fed));
      this.apply();
    } else if (this.events.some((event) => event.type === FULL_SNAPSHOT)) {
      this.replayer = this.start();
      this.apply();
    }
  }

  private start(): Replayer {
    const replayer = new Replayer([...this.events] as unknown as Events, {
      root: this.root,
      speed: this.speed,
      // Focus inside the recording would leave the page's controls.
      triggerFocus: false,
      UNSAFE_replayCanvas: false,
      mouseTail: { duration: 400, strokeStyle: "#2f5fd0", lineWidth: 2 },
      showWarning: false,
      loadTimeout: 0,
      insertStyleRules: [":focus, :focus-visible { outline-color: Highlight }"],
      logger: { log: () => {}, warn: () => {} },
    });
    replayer.iframe.title = "Recorded page";
    replayer.iframe.tabIndex = -1;
    replayer.on("resize", (dimension) => {
      const { width, height } = dimension as { width: number; height: number };
      this.size = { width, height };
      this.send({ kind: "size", width, height });
      this.fit();
    });
    replayer.on("finish", () => {
      this.isPlaying = false;
      this.at = this.endMs - this.startMs;
      this.send({ kind: "ended" });
    });
    const first = this.events.find((event) => event.type === META);
    if (first) this.size = { width: first.data.width as number, height: first.data.height as number };
    return replayer;
  }

  /** Shows the picture of the position, and goes on playing. Before the first picture that one is shown, because the
   * replayer keeps what it showed last: a later position, or the segment that was there first. */
  private apply(): void {
    if (!this.replayer) return;
    const first = this.events.find((event) => event.type === FULL_SNAPSHOT);
    const firstAt = first ? first.timestamp - this.startMs + 1 : 0;
    if (!this.isPlaying || this.at < firstAt) this.replayer.pause(Math.max(this.at, firstAt));
    if (this.isPlaying) this.replayer.play(this.at);
  }

  private position(): number {
    if (!this.replayer || !this.isPlaying) return this.at;
    return Math.max(0, Math.min(this.replayer.getCurrentTime(), this.endMs - this.startMs));
  }

  private report(): void {
    const now = performance.now();
    if (!this.isPlaying) return;
    if (now - this.reportedAt >= REPORT_MS && this.replayer) {
      this.reportedAt = now;
      this.send({ kind: "time", at: this.position() });
    }
    requestAnimationFrame(() => this.report());
  }

  /** Scales the page to the frame, centred. */
  private fit(): void {
    const wrapper = this.replayer?.wrapper;
    if (!wrapper) return;
    const { width, height } = this.size;
    const scale = Math.min(this.root.clientWidth / width, this.root.clientHeight / height) || 1;
    const left = Math.round((this.root.clientWidth - width * scale) / 2);
    const top = Math.round((this.root.clientHeight - height * scale) / 2);
    wrapper.style.transform = `translate(${left}px, ${top}px) scale(${scale})`;
  }
}

function mark(timestamp: number): CleanEvent {
  return { type: CUSTOM, timestamp, data: { tag: "mark", payload: {} } };
}

/** Segments that overlap have equal events. */
function isEqual(a: CleanEvent, b: CleanEvent): boolean {
  return a.type === b.type && JSON.stringify(a.data) === JSON.stringify(b.data);
}
