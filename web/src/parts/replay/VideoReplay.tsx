// Plays the MP4 files of a Flutter app, one after the other at their places on the timeline.
import { useEffect, useRef } from "react";
import type { VideoChunk } from "../../model/replay/segment";
import type { Engine, Replay } from "./replay";

export function VideoReplay({ replay, chunks }: { replay: Replay; chunks: VideoChunk[] }) {
  const video = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    if (!video.current) return;
    const engine = videoEngine(video.current, replay, chunks);
    replay.attach(engine);
    return () => replay.detach(engine);
  }, [replay, chunks]);
  return <video ref={video} muted playsInline className="absolute inset-0 size-full bg-panel object-contain" />;
}

function videoEngine(video: HTMLVideoElement, replay: Replay, chunks: VideoChunk[]): Engine {
  const { startMs } = replay;
  const parts = chunks.map((chunk) => ({
    at: chunk.at - startMs,
    to: chunk.at - startMs + chunk.durationMs,
    chunk,
    url: "",
  }));
  let open = -1;
  let wants = false;
  let rate = 1;
  const show = (at: number) => {
    const next = Math.max(
      0,
      parts.findLastIndex((part) => part.at <= at),
    );
    const part = parts[next];
    if (!part) return;
    if (next !== open) {
      open = next;
      part.url ||= URL.createObjectURL(videoBlob(part.chunk.base64));
      video.src = part.url;
      video.playbackRate = rate;
    }
    video.currentTime = Math.max(0, at - part.at) / 1000;
    if (wants) void video.play().catch(() => {});
  };
  const onTime = () => {
    const part = parts[open];
    if (part && wants) replay.moved(part.at + video.currentTime * 1000);
  };
  const onEnd = () => {
    const next = parts[open + 1];
    if (!wants) return;
    if (next) replay.seek(next.at);
    else replay.ended();
  };
  const onSize = () => replay.resized(video.videoWidth, video.videoHeight);
  const onError = () => replay.failed("This browser cannot play the recorded video.");
  const listeners = { timeupdate: onTime, ended: onEnd, loadedmetadata: onSize, error: onError };
  for (const [name, run] of Object.entries(listeners)) video.addEventListener(name, run);
  return {
    play: () => {
      wants = true;
      if (open < 0) show(0);
      void video.play().catch(() => {});
    },
    pause: () => {
      wants = false;
      video.pause();
    },
    seek: show,
    speed: (value) => {
      rate = value;
      video.playbackRate = value;
    },
    add: () => {},
    close: () => {
      for (const [name, run] of Object.entries(listeners)) video.removeEventListener(name, run);
      video.removeAttribute("src");
      for (const { url } of parts) if (url) URL.revokeObjectURL(url);
    },
  };
}

function videoBlob(base64: string): Blob {
  const binary = atob(base64.replace(/^data:[^,]*,/, ""));
  return new Blob([Uint8Array.from(binary, (character) => character.charCodeAt(0))], { type: "video/mp4" });
}
