// Server-sent events: splits what a stream has delivered so far. https://html.spec.whatwg.org/multipage/server-sent-events.html

export interface StreamEvent {
  name: string;
  data: string;
}

/** The whole events of a text, and the rest that belongs to the next one. Comments are left out. */
export function parseEvents(received: string): { events: StreamEvent[]; rest: string } {
  const blocks = received.replaceAll("\r\n", "\n").split("\n\n");
  const rest = blocks.pop() ?? "";
  const events: StreamEvent[] = [];
  for (const block of blocks) {
    let name = "message";
    const data: string[] = [];
    for (const line of block.split("\n")) {
      if (line.startsWith("event:")) name = line.slice(6).trim();
      if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
    }
    if (data.length) events.push({ name, data: data.join("\n") });
  }
  return { events, rest };
}
