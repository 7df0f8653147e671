// Passkeys through navigator.credentials, in the JSON that servers speak (WebAuthn level 3).
import type { Challenge } from "./account-types";

export function passkeysWork(): boolean {
  return (
    typeof PublicKeyCredential !== "undefined" &&
    typeof PublicKeyCredential.parseCreationOptionsFromJSON === "function" &&
    typeof PublicKeyCredential.parseRequestOptionsFromJSON === "function" &&
    !!navigator.credentials
  );
}
export const NO_PASSKEYS = isSecureContext
  ? "This browser cannot use passkeys here. A newer version can."
  : "Passkeys need https (or localhost): browsers offer them nowhere else.";

/** One of the passkeys that the server accepts, proved by its owner. */
export async function askPasskey(
  options: Challenge<PublicKeyCredentialRequestOptionsJSON>["options"],
): Promise<PublicKeyCredentialJSON> {
  mustWork();
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(bare(options));
  return asJson(await told(() => navigator.credentials.get({ publicKey })));
}

export async function makePasskey(
  options: Challenge<PublicKeyCredentialCreationOptionsJSON>["options"],
): Promise<PublicKeyCredentialJSON> {
  mustWork();
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(bare(options));
  return asJson(await told(() => navigator.credentials.create({ publicKey })));
}

function mustWork(): void {
  if (!passkeysWork()) throw new Error(NO_PASSKEYS);
}

function bare<T extends object>(options: T | { publicKey: T }): T {
  return "publicKey" in options ? options.publicKey : options;
}

/** The browser says "NotAllowedError" for a cancelled dialog, a time-out and a missing passkey alike. */
async function told(run: () => Promise<Credential | null>): Promise<Credential | null> {
  try {
    return await run();
  } catch (error) {
    const name = error instanceof DOMException ? error.name : "";
    if (name === "NotAllowedError" || name === "AbortError")
      throw new Error("No passkey was used: the dialog was closed, or there is none for this site.");
    if (name === "InvalidStateError") throw new Error("This device already has a passkey for this account.");
    if (name === "SecurityError") throw new Error("The browser refuses passkeys at this address.");
    throw error;
  }
}

function asJson(credential: Credential | null): PublicKeyCredentialJSON {
  if (!(credential instanceof PublicKeyCredential)) throw new Error("The browser gave no passkey.");
  return credential.toJSON();
}
