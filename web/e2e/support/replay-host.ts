// Hosts the player's frame on a page of the server, without the player's page: opens it, and speaks its protocol.
import type { Frame, Page } from "@playwright/test";
import { expect } from "./fixtures.ts";

interface Host {
  __send: (message: object) => void;
  __received: { kind: string; [key: string]: unknown }[];
}

/** Puts the frame over the page and gives it one segment, as JSON. Resolves when the segment is built. */
export async function hostRecording(page: Page, json: string, startMs: number, lengthMs: number): Promise<void> {
  await page.evaluate(
    ({ startMs, lengthMs }) => {
      const host = window as unknown as Host;
      host.__received = [];
      const frame = document.createElement("iframe");
      frame.id = "replay";
      frame.style.cssText = "position:fixed;right:0;bottom:0;width:640px;height:400px;border:0";
      addEventListener("message", (event) => {
        if (event.source !== frame.contentWindow || event.origin !== location.origin) return;
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = ({ data }) => host.__received.push(data);
        host.__send = (message) => port1.postMessage(message);
        frame.contentWindow?.postMessage(null, location.origin, [port2]);
        host.__send({ kind: "open", startMs, endMs: startMs + lengthMs });
      });
      frame.src = "/replay-frame.html";
      document.body.append(frame);
    },
    { startMs, lengthMs },
  );
  await expect.poll(() => page.evaluate(() => typeof (window as unknown as Host).__send)).toBe("function");
  await addSegment(page, 0, json);
}

/** Gives the frame a segment, as JSON. Resolves when it is built. */
export async function addSegment(page: Page, segment: number, json: string): Promise<void> {
  await page.evaluate(
    ({ segment, json }) => {
      const bytes = new TextEncoder().encode(json).buffer;
      (window as unknown as Host).__send({ kind: "add", segment, json: bytes });
    },
    { segment, json },
  );
  await expect.poll(async () => (await received(page, "added"))?.segment).toBe(segment);
}

export const send = (page: Page, message: object) =>
  page.evaluate((message) => (window as unknown as Host).__send(message), message);

/** The last message of this kind. */
export const received = (page: Page, kind: string) =>
  page.evaluate((kind) => (window as unknown as Host).__received.findLast((one) => one.kind === kind), kind);

/** The document in which rrweb runs. */
export async function playerFrame(page: Page): Promise<Frame> {
  await expect.poll(() => page.frames().some((frame) => frame.url().startsWith("data:"))).toBe(true);
  return page.frames().find((frame) => frame.url().startsWith("data:"))!;
}

/** Words that the recorded page shows. */
export const recordedWords = (frame: Frame) =>
  frame.evaluate(() => document.querySelector("iframe")?.contentDocument?.documentElement?.textContent ?? "");
