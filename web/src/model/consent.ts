// Validation of an authorization request (OAuth 2.1, authorization code with PKCE).

export interface ConsentSearch {
  response_type?: string;
  client_id?: string;
  redirect_uri?: string;
  code_challenge?: string;
  code_challenge_method?: string;
  state?: string;
  scope?: string;
  resource?: string;
}

/** Returns the message why the request is invalid; null if it is valid. */
export function consentProblem(search: ConsentSearch): string | null {
  if (!search.client_id) return "The link does not say which application asks (client_id is missing).";
  if (!search.redirect_uri) return "The link does not say where to go back to (redirect_uri is missing).";
  if (!redirectHost(search.redirect_uri)) return "The address to go back to cannot be used (redirect_uri).";
  if (search.response_type && search.response_type !== "code")
    return `The application asks in a way this server does not offer (response_type ${search.response_type}; only code).`;
  if (!search.code_challenge) return "The application does not protect the exchange (code_challenge is missing).";
  if ((search.code_challenge_method ?? "S256") !== "S256")
    return `The application protects the exchange in a weak way (code_challenge_method ${search.code_challenge_method}; only S256).`;
  return null;
}

/** The recipient of the response: "127.0.0.1:7777 on this computer", "app.example". Null if the URI is unsafe. */
export function redirectHost(uri: string): string | null {
  let url: URL;
  try {
    url = new URL(uri);
  } catch {
    return null;
  }
  if (/^(javascript|data|vbscript|blob|file|about):$/.test(url.protocol)) return null;
  if (url.protocol !== "http:" && url.protocol !== "https:") return `the ${url.protocol}// app on this computer`;
  if (!url.host) return null;
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname) ? `${url.host} on this computer` : url.host;
}
