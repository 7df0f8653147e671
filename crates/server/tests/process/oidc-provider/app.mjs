// A real OpenID Connect provider on a free loopback port. It signs in without interaction, as the person in PERSON, at
// its `signed_in_at` or now; `POST /person` replaces the person, `POST /rotate` the signing key. The first line of its
// output is its issuer.
import { generateKeyPairSync, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import Provider from "oidc-provider";

const server = createServer((request, response) => {
  if (request.method === "POST" && request.url === "/rotate") {
    provider = make();
    response.end();
  } else if (request.method === "POST" && request.url === "/person") {
    let text = "";
    request.on("data", (piece) => (text += piece));
    request.on("end", () => {
      person = JSON.parse(text);
      response.end();
    });
  } else {
    handle(request, response);
  }
});
let person = JSON.parse(process.env.PERSON);
let provider;

async function handle(request, response) {
  if (!request.url.startsWith("/interaction/")) return provider.callback()(request, response);
  // Does what a person would do: signs in and consents.
  const { params, prompt, session } = await provider.interactionDetails(request, response);
  if (prompt.name === "login") {
    const login = { accountId: person.sub, amr: person.amr, ts: person.signed_in_at };
    return provider.interactionFinished(request, response, { login });
  }
  const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  grant.addOIDCScope(params.scope);
  const consent = { grantId: await grant.save() };
  return provider.interactionFinished(request, response, { consent }, { mergeWithLastSubmission: true });
}

function make() {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const key = { ...privateKey.export({ format: "jwk" }), kid: randomUUID(), alg: "RS256", use: "sig" };
  const issuer = `http://127.0.0.1:${server.address().port}`;
  return new Provider(issuer, {
    clients: [
      {
        client_id: "tidewatch",
        client_secret: "a secret & more",
        redirect_uris: [process.env.CALLBACK],
        grant_types: ["authorization_code"],
        response_types: ["code"],
      },
    ],
    jwks: { keys: [key] },
    claims: { openid: ["sub", "org", "amr"], email: ["email", "email_verified"], profile: ["name"], groups: ["groups"] },
    scopes: ["openid", "groups"],
    pkce: { required: () => true },
    cookies: { keys: ["a key for tests"] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ ...person, sub }) }),
  });
}

server.listen(0, "127.0.0.1", () => {
  provider = make();
  console.log(`http://127.0.0.1:${server.address().port}`);
});
// Exits with the process that started it.
process.stdin.on("end", () => process.exit(0)).resume();
