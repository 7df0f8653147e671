// The frame that plays an rrweb recording. The page gives it segments and commands over a port; the frame cannot reach
// the page. docs/use/replay.md.
import { useEffect, useRef } from "react";
import { FRAME_READY, type HostMessage, readFrameMessage } from "../../replay-frame/protocol";
import type { Engine, Replay } from "./replay";

const ADDRESS = "/replay-frame.html";

export function ReplayFrame({ replay }: { replay: Replay }) {
  const frame = useRef<HTMLIFrameElement>(null);
  useEffect(() => {
    let engine: Engine | null = null;
    const ready = (event: MessageEvent) => {
      const target = frame.current?.contentWindow;
      if (!target || event.source !== target || event.origin !== location.origin || event.data !== FRAME_READY) return;
      if (engine) replay.detach(engine);
      const { port1, port2 } = new MessageChannel();
      target.postMessage(null, location.origin, [port2]);
      engine = frameEngine(port1, replay);
      replay.attach(engine);
    };
    window.addEventListener("message", ready);
    // Set here, so that the answer cannot come before the listener.
    if (frame.current && !frame.current.src) frame.current.src = ADDRESS;
    return () => {
      window.removeEventListener("message", ready);
      if (engine) replay.detach(engine);
    };
  }, [replay]);
  // Inert: the recorded page's links and fields take no clicks, no focus and no keys.
  return (
    <iframe
      ref={frame}
      title="Recorded page"
      inert
      tabIndex={-1}
      className="absolute inset-0 size-full border-0 bg-panel"
    />
  );
}

function frameEngine(port: MessagePort, replay: Replay): Engine {
  const send = (message: HostMessage, transfer: Transferable[] = []) => port.postMessage(message, transfer);
  port.onmessage = ({ data }) => {
    const message = readFrameMessage(data);
    switch (message?.kind) {
      case "time":
        return replay.moved(message.at);
      case "size":
        return replay.resized(message.width, message.height);
      case "added":
        return replay.added(message.segment, message.notLoaded, message.isCut);
      case "ended":
        return replay.ended();
      case "failed":
        return replay.failed(message.message);
    }
  };
  const { startMs, lengthMs } = replay;
  send({ kind: "open", startMs, endMs: startMs + lengthMs });
  return {
    play: () => send({ kind: "play" }),
    pause: () => send({ kind: "pause" }),
    seek: (at) => send({ kind: "seek", at }),
    speed: (value) => send({ kind: "speed", value }),
    add: (segment, json) => send({ kind: "add", segment, json }, [json]),
    close: () => port.close(),
  };
}
