// Passkeys through navigator.credentials, in the JSON form of WebAuthn level 3.
import type { Challenge } from "./account-types";

export function passkeysSupported(): boolean {
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

/** Returns an assertion by one of the passkeys that the server accepts. */
export async function requestAssertion(
  options: Challenge<PublicKeyCredentialRequestOptionsJSON>["options"],
): Promise<PublicKeyCredentialJSON> {
  requirePasskeys();
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(unwrapOptions(options));
  return asJson(await withReadableErrors(() => navigator.credentials.get({ publicKey })));
}

export async function createPasskey(
  options: Challenge<PublicKeyCredentialCreationOptionsJSON>["options"],
): Promise<PublicKeyCredentialJSON> {
  requirePasskeys();
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(unwrapOptions(options));
  return asJson(await withReadableErrors(() => navigator.credentials.create({ publicKey })));
}

function requirePasskeys(): void {
  if (!passkeysSupported()) throw new Error(NO_PASSKEYS);
}

function unwrapOptions<T extends object>(options: T | { publicKey: T }): T {
  return "publicKey" in options ? options.publicKey : options;
}

/** Translates browser errors. "NotAllowedError" means a cancelled dialog, a timeout or a missing passkey. */
async function withReadableErrors(run: () => Promise<Credential | null>): Promise<Credential | null> {
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
