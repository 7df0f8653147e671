// A web shop that records its sessions with the real SDK, as its authors ship it: one script. Served from an origin of
// its own, together with a third party whose requests are counted.
import { execFile } from "node:child_process";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { type Listening, listen, type ThirdParty, thirdParty } from "./third-party.ts";

const SOURCE = new URL("../session-sdk", import.meta.url).pathname;

/** The SDK's script, installed once per lock file. */
async function sdk(): Promise<string> {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
  const folder = join(cache, "tidewatch", "session-sdk");
  await mkdir(folder, { recursive: true });
  await cp(SOURCE, folder, { recursive: true });
  const lock = await readFile(join(folder, "package-lock.json"), "utf8");
  const marker = join(folder, ".installed");
  if ((await readFile(marker, "utf8").catch(() => "")) !== lock) {
    await promisify(execFile)("npm", ["ci", "--no-audit", "--no-fund", "--ignore-scripts"], { cwd: folder });
    await writeFile(marker, lock);
  }
  return readFile(join(folder, "node_modules/@tracewayapp/frontend/dist/traceway.iife.global.js"), "utf8");
}

const page = (connection: string, third: string) => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Harbour Books</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="${third}/theme.css">
<style>
*{box-sizing:border-box}body{margin:0;font:15px/1.5 system-ui,sans-serif;color:#1d2a3a;background:#f6f1e7}
header{display:flex;gap:24px;align-items:center;padding:16px 32px;background:#14384c;color:#fff}
header b{font:700 20px Georgia,serif}header a{color:#cfe4ee;text-decoration:none}header a:hover{color:#fff}
main{max-width:1000px;margin:0 auto;padding:24px 32px}h1{font:700 28px Georgia,serif;margin:0 0 16px}
.grid{display:grid;grid-template-columns:repeat(4,1fr);gap:20px}.book{background:#fff;border-radius:8px;padding:12px;box-shadow:0 1px 3px #0002}
.cover{height:150px;border-radius:4px;display:grid;place-items:center;color:#fff;font:700 17px Georgia,serif;text-align:center;padding:12px}
button{font:inherit;padding:8px 16px;border:0;border-radius:6px;background:#c8552b;color:#fff;cursor:pointer}button:hover{background:#a8431d}
form{display:grid;gap:12px;max-width:420px}label{display:grid;gap:4px}input{font:inherit;padding:8px;border:1px solid #b8c2cc;border-radius:6px}
.note{margin-top:16px;padding:12px;border-radius:6px;background:#fbe9e2;color:#8c2f0d}.spin{animation:spin 1s linear infinite}
@keyframes spin{to{transform:rotate(360deg)}}img{width:24px;height:24px}
</style></head><body>
<header><b>Harbour Books</b><a href="/" data-go="/">Books</a><a href="/basket" data-go="/basket">Basket (<span id="n">0</span>)</a>
<img alt="" src="${third}/badge.gif"></header><main id="main"></main>
<script src="/sdk.js"></script><script>
Traceway.init(${JSON.stringify(connection)},{recordAllSessions:true,sessionRecordingSegmentDuration:1500,debounceMs:100,version:"2.4.1"});
Traceway.setAttributes({userId:"ada@example.com",plan:"reader"});
const main=document.getElementById("main");let n=0;
const books=[["Night tides","#23506b"],["The lamp keeper","#7a3b2e"],["Salt roads","#3d6b4f"],["A map of weather","#5b4a82"],["Low water","#8a6d2f"],["North pier","#2e4a7a"],["Slack","#6b2342"],["Moorings","#4a5b5f"]];
const views={
"/":()=>{main.innerHTML="<h1>New this week</h1><div class=grid>"+books.map(([t,c],i)=>"<div class=book><div class=cover style='background:"+c+"'>"+t+"</div><p>"+(9+i)+".50 €</p><button data-add='"+i+"'>Add to basket</button></div>").join("")+"</div>"},
"/basket":()=>{main.innerHTML="<h1>Basket</h1><p>"+n+" books, "+(n*10.5).toFixed(2)+" €</p><form><label>Name<input name=name></label><label>Card number<input name=card class=rr-mask></label><label>Password<input type=password name=pw></label><button type=button id=pay>Pay now</button></form><div id=out></div>"}};
const go=p=>{history.pushState({},"",p);views[p]()};
document.addEventListener("click",async e=>{const t=e.target.closest("[data-go],[data-add],#pay");if(!t)return;e.preventDefault();
if(t.dataset.go)go(t.dataset.go);
if(t.dataset.add){n++;document.getElementById("n").textContent=n;console.log("added",books[t.dataset.add][0]);await fetch("/api/basket",{method:"POST",body:t.dataset.add})}
if(t.id==="pay"){console.warn("paying without a voucher");const r=await fetch("/api/pay",{method:"POST"});document.getElementById("out").innerHTML="<p class=note>The payment did not work. Please try again.</p>";console.error("payment answered",r.status);
Traceway.recordAction("checkout","payment_failed",{status:r.status});Traceway.recordAction("web-vitals","LCP",{value:1240});Traceway.recordAction("web-vitals","CLS",{value:0.31});
setTimeout(()=>{throw new TypeError("receipt is undefined")},20)}});
views["/"]();fetch("/api/books");
</script></body></html>`;

export interface SessionApp extends Listening {
  third: ThirdParty;
  /** Bodies of the reports that passed through `/report`, decompressed, and the server's answers. */
  reports: { body: string; status: number }[];
}

/** `report` is the address of the native protocol, to which `/report` of the app passes on what the SDK sends. */
export async function sessionApp(report: string, token: string): Promise<SessionApp> {
  const [script, third] = await Promise.all([sdk(), thirdParty()]);
  const reports: SessionApp["reports"] = [];
  const passOn = async (request: IncomingMessage, answer: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const encoding = request.headers["content-encoding"];
    const { status } = await fetch(report, {
      method: "POST",
      headers: {
        authorization: request.headers.authorization ?? "",
        "content-type": "application/json",
        ...(encoding ? { "content-encoding": encoding } : {}),
      },
      body,
    });
    reports.push({ body: (encoding === "gzip" ? gunzipSync(body) : body).toString(), status });
    answer.statusCode = status;
    answer.end("{}");
  };
  const server = await listen((request, answer) => {
    const path = request.url ?? "";
    if (path === "/report") {
      passOn(request, answer).catch(() => answer.destroy());
      return;
    }
    if (path.startsWith("/api/")) {
      answer.statusCode = path === "/api/pay" ? 502 : 200;
      answer.setHeader("content-type", "application/json");
      answer.end("{}");
      return;
    }
    answer.setHeader("content-type", path === "/sdk.js" ? "text/javascript" : "text/html");
    answer.end(path === "/sdk.js" ? script : page(`${token}@http://${request.headers.host}/report`, third.url));
  });
  return {
    url: server.url,
    third,
    reports,
    stop: async () => {
      await Promise.all([server.stop(), third.stop()]);
    },
  };
}
