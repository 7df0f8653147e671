// The prompt that instructs a coding agent to set up a repository.

/** `address` is the address of this server, `token` a setup token. */
export function agentPrompt(address: string, token: string): string {
  return `Send this repository's telemetry to Tidewatch at ${address}.

The setup token is ${token}. It holds for one hour; send it as "Authorization: Bearer <token>".
1. GET ${address}/api/setup/session says which organization it is for and which projects there are.
2. Find the services and apps of this repository. POST ${address}/api/setup/plan with
   {"projects": [{"name": "...", "framework": "opentelemetry"}]}, one for each. A person looks at the plan.
3. Poll /api/setup/session every few seconds until "status" is "approved"; then "projects" holds a token for each.
   Stop if it is "refused".
4. Configure the OpenTelemetry SDK of each: OTLP over HTTP to ${address}/api/otel, with the header
   "Authorization: Bearer <the project's token>". Keep tokens out of the repository: read them from the environment.`;
}
