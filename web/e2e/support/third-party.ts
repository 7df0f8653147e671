// Servers of others, on ports of their own.
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface Listening {
  url: string;
  stop: () => Promise<void>;
}

export async function listen(answer: RequestListener): Promise<Listening> {
  const server: Server = createServer(answer);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

export interface ThirdParty extends Listening {
  /** Paths of all requests. */
  seen: string[];
}

/** A server of somebody else: it serves images, and remembers who asked. */
export async function thirdParty(): Promise<ThirdParty> {
  const seen: string[] = [];
  const pixel = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");
  const server = await listen((request, answer) => {
    seen.push(request.url ?? "");
    answer.setHeader("content-type", request.url?.endsWith(".css") ? "text/css" : "image/gif");
    answer.setHeader("access-control-allow-origin", "*");
    answer.end(request.url?.endsWith(".css") ? "body{--third:1}" : pixel);
  });
  return { ...server, seen };
}
