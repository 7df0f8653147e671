// The script of /replay-frame.html. It runs twice:
//
// 1. In the document that the server sends, which has this server's origin and nothing of the recording. It opens a
//    second document from a `data:` URL and hands it the page's port.
// 2. In that second document, whose origin is opaque: no cookies, no storage, no access to the page. Here rrweb builds
//    the recording in a third document, a sandboxed frame without scripts. All three have the policy of the first.
import { EventFeed } from "./feed";
import { FRAME_READY, type FrameMessage, type HostMessage } from "./protocol";

const HELLO = "hello";

const STYLE = `html,body{margin:0;height:100%;overflow:hidden;background:#eceef1}
.replayer-wrapper{position:absolute;left:0;top:0;transform-origin:0 0}
.replayer-wrapper iframe{border:0;background:#fff}
.replayer-mouse-tail{position:absolute;pointer-events:none}
.replayer-mouse{position:absolute;width:20px;height:20px;margin:-2px 0 0 -2px;z-index:2;pointer-events:none;
transition:left .05s linear,top .05s linear;background:no-repeat 0 0/20px 20px
url("data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 20 20'%3E%3Cpath d='M2 2l5.5 14 2.2-5.8L16 8z' fill='%2314171c' stroke='%23fff' stroke-width='1.2' stroke-linejoin='round'/%3E%3C/svg%3E")}
.replayer-mouse::after{content:"";position:absolute;left:2px;top:2px;width:24px;height:24px;border-radius:50%;
background:#2f5fd0;opacity:0;transform:translate(-50%,-50%)}
.replayer-mouse.active::after{animation:click .3s ease-out}
.replayer-mouse.touch-device{background-image:none;width:40px;height:40px;margin:-20px;border-radius:50%;transition:none}
.replayer-mouse.touch-device.touch-active{background:rgb(47 95 208/.3)}
@keyframes click{0%{opacity:.6;width:8px;height:8px}100%{opacity:0;width:40px;height:40px}}
@media (prefers-reduced-motion:reduce){.replayer-mouse{transition:none}}`;

function openPlayer(source: string): void {
  const page = `<!doctype html><html><head><meta charset="utf-8"><title>Recorded page</title><style>${STYLE}</style></head><body><script>${source}</script></body></html>`;
  const frame = document.createElement("iframe");
  frame.title = "Recorded page";
  // An origin of its own comes with the `data:` URL. Without `allow-same-origin` the recording's frame would get
  // another one, and rrweb could not build it.
  frame.setAttribute("sandbox", "allow-scripts allow-same-origin");
  frame.src = `data:text/html;charset=utf-8,${encodeURIComponent(page)}`;
  addEventListener("message", (event) => {
    const port = event.ports[0];
    if (event.source === frame.contentWindow && event.data === HELLO) parent.postMessage(FRAME_READY, location.origin);
    else if (event.source === parent && event.origin === location.origin && port)
      frame.contentWindow?.postMessage(null, "*", [port]);
  });
  document.body.append(frame);
}

function play(): void {
  const onPort = (event: MessageEvent) => {
    const port = event.ports[0];
    if (event.source !== parent || !port) return;
    removeEventListener("message", onPort);
    const send = (message: FrameMessage) => port.postMessage(message);
    const feed = new EventFeed(document.body, send);
    port.onmessage = ({ data }: MessageEvent<HostMessage>) => {
      try {
        feed.take(data);
      } catch (error) {
        send({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
      }
    };
  };
  addEventListener("message", onPort);
  parent.postMessage(HELLO, "*");
}

if (location.protocol === "data:") play();
else openPlayer(document.currentScript?.textContent ?? "");
