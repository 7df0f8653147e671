// A player: picture, timeline, buttons and keys. The keys act on the whole page (`keys="page"`) or while the focus is in
// the player.
import { Gauge, Maximize, Pause, Play, RotateCcw, RotateCw, Undo2, VideoOff } from "lucide-react";
import { type ReactNode, useEffect, useRef } from "react";
import { plural } from "../../model/format";
import { clock, type Mark, SPEEDS, type Stretch, stepSpeed, type Timeline } from "../../model/replay/timeline";
import type { NotLoaded } from "../../replay-frame/protocol";
import { isTyping, shortcutsOn } from "../../ui/keys";
import { Select } from "../../ui/Select";
import { Tip } from "../../ui/Tip";
import { ReplayFrame } from "./ReplayFrame";
import { type Replay, useReplay } from "./replay";
import { MARKS, STEP_MS, Track } from "./Track";
import { VideoReplay } from "./VideoReplay";

interface Props {
  replay: Replay;
  timeline: Timeline;
  marks: Mark[];
  /** Stretches whose segments have not arrived. */
  pending: Stretch[];
  keys: "page" | "player";
  /** Height limit of the picture. */
  most?: string;
  /** Instead of the picture, if there is none. */
  absent?: ReactNode;
}

export function Player({ replay, timeline, marks, pending, keys, most = "60vh", absent }: Props) {
  const box = useRef<HTMLElement>(null);
  useReplayKeys(replay, keys === "page" ? null : box);
  const has = timeline.video.length > 0 ? "video" : timeline.hasPicture || pending.length > 0 ? "page" : "nothing";
  return (
    <section
      ref={box}
      aria-label="Replay"
      className="panel overflow-hidden bg-bg [&:fullscreen]:flex [&:fullscreen]:flex-col"
    >
      {has === "nothing" ? (
        <NoPicture>{absent}</NoPicture>
      ) : (
        <Picture replay={replay} most={most} missing={timeline.missing}>
          {has === "video" ? <VideoReplay replay={replay} chunks={timeline.video} /> : <ReplayFrame replay={replay} />}
        </Picture>
      )}
      <div className="space-y-2 border-line border-t p-2">
        <Track replay={replay} timeline={timeline} marks={marks} pending={pending} />
        <Controls replay={replay} canPlay={has !== "nothing"} hasIdle={timeline.idle.length > 0} box={box} />
        <Legend timeline={timeline} marks={marks} />
      </div>
      <Notices replay={replay} />
    </section>
  );
}

function Picture({
  replay,
  most,
  missing,
  children,
}: {
  replay: Replay;
  most: string;
  missing: Stretch[];
  children: ReactNode;
}) {
  const { width, height } = useReplay(replay, (state) => state.size);
  const isWaiting = useReplay(replay, (state) => state.isWaiting || !state.isDrawn);
  const isFresh = useReplay(replay, (state) => state.isFresh && state.isDrawn);
  const isMissing = useReplay(replay, ({ at }) => missing.some(({ from, to }) => from + 500 < at && at < to - 500));
  return (
    // A click anywhere on the picture plays and pauses, as every player does; keys do the same.
    // biome-ignore lint/a11y/useKeyWithClickEvents: the button below does the same by keyboard
    // biome-ignore lint/a11y/noStaticElementInteractions: the button below does the same
    <div
      className="relative w-full cursor-pointer bg-panel [:fullscreen>&]:min-h-0 [:fullscreen>&]:max-h-none! [:fullscreen>&]:flex-1"
      style={{ aspectRatio: `${width} / ${height}`, maxHeight: most }}
      onClick={() => replay.toggle()}
    >
      {children}
      {/* Above the frame, so that the pointer never enters it. */}
      <span aria-hidden className="absolute inset-0" />
      {isMissing && (
        <p className="absolute inset-0 grid place-items-center bg-panel/90 text-center text-ink2">
          <span>
            <VideoOff size={20} aria-hidden className="mx-auto mb-1" />
            This part of the session was not recorded.
          </span>
        </p>
      )}
      {isWaiting && (
        <p role="status" className="late absolute top-2 left-2 rounded-control bg-ink px-2 py-1 text-bg text-dense">
          Loading…
        </p>
      )}
      {isFresh && !isMissing && (
        <span aria-hidden className="pointer-events-none absolute inset-0 grid place-items-center">
          <span className="grid size-14 place-items-center rounded-full bg-ink/75 text-bg">
            <Play size={26} className="ml-1" />
          </span>
        </span>
      )}
    </div>
  );
}

function NoPicture({ children }: { children?: ReactNode }) {
  return (
    <div className="flex flex-col items-center gap-1 bg-panel px-6 py-10 text-center">
      <VideoOff size={22} aria-hidden className="text-ink2" />
      <h2 className="font-semibold text-section">No recording</h2>
      {children && <div className="max-w-md text-ink2">{children}</div>}
    </div>
  );
}

function Controls({
  replay,
  canPlay,
  hasIdle,
  box,
}: {
  replay: Replay;
  canPlay: boolean;
  hasIdle: boolean;
  box: React.RefObject<HTMLElement | null>;
}) {
  const { isPlaying, speed, skipsIdle } = useReplay(replay, (state) => state);
  const isAtEnd = useReplay(replay, ({ at }) => at >= replay.lengthMs - 1);
  return (
    <div className="flex flex-wrap items-center gap-2">
      {canPlay && (
        <>
          <Tip text="Space">
            <button
              type="button"
              className="btn btn-primary btn-icon w-9!"
              aria-label={isPlaying ? "Pause" : isAtEnd ? "Play again" : "Play"}
              onClick={() => replay.toggle()}
            >
              {isPlaying ? (
                <Pause size={15} aria-hidden />
              ) : isAtEnd ? (
                <Undo2 size={15} aria-hidden />
              ) : (
                <Play size={15} aria-hidden />
              )}
            </button>
          </Tip>
          <Jump
            replay={replay}
            by={-STEP_MS}
            label="5 seconds back"
            keys="←"
            icon={<RotateCcw size={14} aria-hidden />}
          />
          <Jump replay={replay} by={STEP_MS} label="5 seconds on" keys="→" icon={<RotateCw size={14} aria-hidden />} />
        </>
      )}
      <Clock replay={replay} />
      <span className="grow" />
      {canPlay && (
        <>
          {hasIdle && (
            <label className="inline-flex h-7 items-center gap-1.5 text-ink2">
              <input
                type="checkbox"
                className="size-4 accent-(--accent)"
                checked={skipsIdle}
                onChange={(event) => replay.setSkipsIdle(event.target.checked)}
              />
              Skip idle time
            </label>
          )}
          <Gauge size={14} aria-hidden className="text-ink2 max-sm:hidden" />
          <Select
            label="Speed"
            value={String(speed)}
            options={SPEEDS.map((one) => ({ value: String(one), label: `${one}×` }))}
            onChange={(value) => replay.setSpeed(Number(value))}
          />
          <Tip text="Full screen (f)">
            <button
              type="button"
              className="btn btn-icon"
              aria-label="Full screen"
              onClick={() => toggleFullscreen(box.current)}
            >
              <Maximize size={14} aria-hidden />
            </button>
          </Tip>
        </>
      )}
    </div>
  );
}

function Clock({ replay }: { replay: Replay }) {
  const now = useReplay(replay, (state) => clock(state.at));
  return (
    <span className="font-mono text-dense" data-clock>
      {now} <span className="text-ink2">/ {clock(replay.lengthMs)}</span>
    </span>
  );
}

function Jump({
  replay,
  by,
  label,
  keys,
  icon,
}: {
  replay: Replay;
  by: number;
  label: string;
  keys: string;
  icon: ReactNode;
}) {
  return (
    <Tip text={`${label} (${keys})`}>
      <button
        type="button"
        className="btn btn-icon"
        aria-label={label}
        onClick={() => replay.seek(replay.state.at + by)}
      >
        {icon}
      </button>
    </Tip>
  );
}

/** Legend of the marks and hatchings on the timeline; only those that are there. */
function Legend({ timeline, marks }: { timeline: Timeline; marks: Mark[] }) {
  const kinds = (Object.keys(MARKS) as Mark["kind"][]).filter((kind) => marks.some((mark) => mark.kind === kind));
  return (
    <ul aria-label="Legend of the timeline" className="flex flex-wrap gap-x-4 gap-y-0.5 text-caption text-ink2">
      {timeline.activity.length > 0 && (
        <li className="inline-flex items-center gap-1.5">
          <span aria-hidden className="h-2 w-3 bg-control" /> What the user did
        </li>
      )}
      {kinds.map((kind) => (
        <li key={kind} className="inline-flex items-center gap-1.5">
          <span aria-hidden className="relative size-3">
            <span
              className={`absolute left-1/2 -translate-x-1/2 ${MARKS[kind].shape.replace(/(?:top|bottom)-1/, "top-0.5")}`}
            />
          </span>
          {MARKS[kind].label}
        </li>
      ))}
      {timeline.idle.length > 0 && (
        <li className="inline-flex items-center gap-1.5">
          <span aria-hidden className="idle h-3 w-4" /> Idle
        </li>
      )}
      {timeline.missing.length > 0 && (
        <li className="inline-flex items-center gap-1.5">
          <span aria-hidden className="unrecorded h-3 w-4" /> Not recorded
        </li>
      )}
    </ul>
  );
}

/** Notices about missing parts of the picture, and failures of the player. */
function Notices({ replay }: { replay: Replay }) {
  const notLoaded = useReplay(replay, (state) => state.notLoaded);
  const isCut = useReplay(replay, (state) => state.isCut);
  const problem = useReplay(replay, (state) => state.problem);
  const lost = notLoadedWords(notLoaded);
  if (!lost && !isCut && !problem) return null;
  return (
    <div className="space-y-1 border-line border-t px-3 py-2 text-dense text-ink2">
      {problem && (
        <p role="alert" className="text-error">
          The player stopped: {problem}
        </p>
      )}
      {isCut && <p>The recorded page is too large to be drawn whole; a part of it is left out.</p>}
      {lost && (
        <p>
          {lost} from other servers{" "}
          {notLoaded.images + notLoaded.styles + notLoaded.fonts + notLoaded.other === 1 ? "is" : "are"} not loaded, so
          that nobody learns who watches this recording. The page may have looked different.
        </p>
      )}
    </div>
  );
}

export function notLoadedWords({ images, styles, fonts, other }: NotLoaded): string {
  const parts = [
    images > 0 && plural(images, "image"),
    styles > 0 && plural(styles, "style sheet"),
    fonts > 0 && plural(fonts, "font"),
    other > 0 && plural(other, "other file"),
  ].filter((one) => one !== false);
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

function toggleFullscreen(element: HTMLElement | null): void {
  if (document.fullscreenElement) void document.exitFullscreen();
  else void element?.requestFullscreen?.();
}

/** `within`: the keys act only while the focus is inside. */
function useReplayKeys(replay: Replay, within: React.RefObject<HTMLElement | null> | null): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey || isTyping(event)) return;
      const target = event.target as HTMLElement;
      if (within ? !within.current?.contains(target) : !shortcutsOn()) return;
      const run = keyAction(event.key, replay);
      // Space presses the focused button, and follows no link.
      if (!run || (event.key === " " && target.closest("button, summary, [role=tab]"))) return;
      event.preventDefault();
      run();
    };
    // Captured: `<` and `>` move the range of other pages.
    document.addEventListener("keydown", listen, true);
    return () => document.removeEventListener("keydown", listen, true);
  }, [replay, within]);
}

function keyAction(key: string, replay: Replay): (() => void) | null {
  switch (key) {
    case " ":
      return () => replay.toggle();
    case "ArrowLeft":
      return () => replay.seek(replay.state.at - STEP_MS);
    case "ArrowRight":
      return () => replay.seek(replay.state.at + STEP_MS);
    case "<":
      return () => replay.setSpeed(stepSpeed(replay.state.speed, -1));
    case ">":
      return () => replay.setSpeed(stepSpeed(replay.state.speed, 1));
    case "f":
      return () => toggleFullscreen(document.querySelector("section[aria-label=Replay]"));
    default:
      return null;
  }
}
