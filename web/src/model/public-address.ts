/**
 * Where exporters should send: the server's own idea, unless it only knows a loopback address; then what this browser
 * used to get here is the better guess.
 */
export function publicAddress(backendUrl: string, origin: string): string {
  const loopback = /^https?:\/\/(localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1?\])(:\d+)?\/?$/i;
  return (backendUrl && !loopback.test(backendUrl) ? backendUrl : origin).replace(/\/+$/, "");
}
