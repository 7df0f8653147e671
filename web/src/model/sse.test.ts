import { expect, test } from "vitest";
import { parseEvents } from "./sse";

test("events are whole, comments are left out, and the rest waits", () => {
  const text = ': open\n\nevent: logs\ndata: {"a":1}\n\n:\n\ndata: x\ndata: y\n\nevent: end\ndata: {';
  expect(parseEvents(text)).toEqual({
    events: [
      { name: "logs", data: '{"a":1}' },
      { name: "message", data: "x\ny" },
    ],
    rest: "event: end\ndata: {",
  });
  expect(parseEvents("event: logs\r\ndata: 1\r\n\r\n").events).toEqual([{ name: "logs", data: "1" }]);
});

test("however a stream is cut, the events are the same", () => {
  const text = "event: a\ndata: 1\n\n: c\n\ndata: 2\n\n";
  for (let cut = 0; cut <= text.length; cut++) {
    const first = parseEvents(text.slice(0, cut));
    const second = parseEvents(first.rest + text.slice(cut));
    expect([...first.events, ...second.events]).toEqual(parseEvents(text).events);
    expect(second.rest).toBe("");
  }
});
