/**
 * Address for exporters: the server's configured address, or this page's origin if the server's is a loopback
 * address.
 */
export function publicAddress(backendUrl: string, origin: string): string {
  const loopback = /^https?:\/\/(localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1?\])(:\d+)?\/?$/i;
  return (backendUrl && !loopback.test(backendUrl) ? backendUrl : origin).replace(/\/+$/, "");
}
