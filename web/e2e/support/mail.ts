// Mails that the server wrote into its folder, and the links in them.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** The newest link to a page (`/reset-password#token=...`) that was mailed to an address. Waits for it. */
export async function mailedLink(folder: string, recipient: string, page: string): Promise<string> {
  for (let attempt = 0; attempt < 100; attempt++) {
    for (const name of (await readdir(folder).catch(() => [])).sort().reverse()) {
      const mail = plain(await readFile(join(folder, name), "latin1"));
      const link = new RegExp(`https?://[^\\s"<>]+/${page}#token=\\w+`).exec(mail);
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

/** Quoted-printable undone. */
function plain(mail: string): string {
  return mail
    .replace(/=\r?\n/g, "")
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
