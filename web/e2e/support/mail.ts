// Mails that the server wrote to its folder, and their links.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** Waits for a mail to the address and returns its latest link to the page (`/reset-password#token=...`). */
export async function mailedLink(folder: string, recipient: string, page: string, seconds = 30): Promise<string> {
  for (let attempt = 0; attempt < 10 * seconds; attempt++) {
    for (const name of (await readdir(folder).catch(() => [])).sort().reverse()) {
      const mail = plain(await readFile(join(folder, name), "latin1"));
      const link = new RegExp(`https?://[^\\s"<>]+/${page}#token=\\w+(?=\\W)`).exec(mail);
      if (link && mail.includes(`To: ${recipient}`)) return link[0];
    }
    await new Promise((resume) => setTimeout(resume, 100));
  }
  throw new Error(`no mail to ${recipient} with a link to ${page}`);
}

/** The secret in a mailed link. */
export function linkToken(link: string): string {
  return new URLSearchParams(new URL(link).hash.slice(1)).get("token") ?? "";
}

/** Decodes quoted-printable. */
function plain(mail: string): string {
  return mail
    .replace(/=\r?\n/g, "")
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
