import { getRouteApi } from "@tanstack/react-router";
import { Send } from "lucide-react";
import { useState } from "react";
import { useProject } from "../../api/account";
import { isHiddenToken } from "../../model/project-settings";
import { publicAddress, snippets } from "../../model/snippets";
import { testTrace } from "../../model/test-trace";
import { PageHead } from "../../parts/Page";
import { RevealButton, SecretCode } from "../../parts/Secret";
import { Token } from "../../parts/Token";
import { CopyButton } from "../../ui/Copy";
import { SearchLink } from "../../ui/SearchLink";
import { say } from "../../ui/Toasts";
import { AgentSetup } from "./AgentSetup";
import { LiveStrip, useArrivals } from "./LiveStrip";
import { UnknownSenders } from "./UnknownSenders";

const route = getRouteApi("/p/$pid/connect");

export function ConnectPage() {
  const project = useProject();
  const { lang } = route.useSearch();
  if (!project) return null;
  const otlp = `${publicAddress(project.backendUrl, location.origin)}/api/otel`;
  const all = snippets(otlp, project.token);
  const chosen = all.find((one) => one.key === lang) ?? all[0];
  return (
    <>
      <PageHead title="Connect" sub="Point any OpenTelemetry SDK or Collector here. No agent, no code of ours." />
      <div className="grid gap-4 px-4 pb-8 xl:grid-cols-[minmax(0,1fr)_400px]">
        <div className="order-2 min-w-0 xl:order-1">
          <nav aria-label="Language" className="mb-3 flex flex-wrap gap-1">
            {all.map((one) => (
              <SearchLink
                key={one.key}
                change={{ lang: one.key === all[0].key ? undefined : one.key }}
                current={one === chosen}
                className="btn aria-[current=page]:border-accent aria-[current=page]:bg-accentsoft aria-[current=page]:text-accent"
              >
                {one.label}
              </SearchLink>
            ))}
          </nav>
          <div className="panel divide-y divide-line">
            {chosen.steps.map((step, i) => (
              <Code
                key={step.title}
                title={chosen.steps.length > 1 ? `${i + 1}. ${step.title}` : step.title}
                code={step.code}
                secret={isHiddenToken(project.token) ? undefined : project.token}
              />
            ))}
            {chosen.note && <p className="px-4 py-2.5 text-ink2">{chosen.note}</p>}
          </div>
        </div>
        <div className="order-1 min-w-0 space-y-4 xl:order-2">
          <LiveStrip />
          <div className="panel space-y-4 p-4">
            <div>
              <div className="font-medium">Endpoint</div>
              <div className="mt-1 flex items-center gap-1">
                <code className="min-w-0 flex-1 truncate rounded-control border border-line bg-panel px-2 py-1 font-mono text-dense">
                  {otlp}
                </code>
                <CopyButton text={otlp} label="Copy the endpoint" />
              </div>
              <p className="mt-1 text-dense text-ink2">
                Exporters add /v1/traces, /v1/metrics and /v1/logs themselves.
              </p>
            </div>
            <Token label="Project token" token={project.token} />
            <TestTrace token={project.token} />
          </div>
          {project.role === "owner" && <UnknownSenders />}
          {project.role !== "readonly" && <AgentSetup project={project} />}
        </div>
      </div>
    </>
  );
}

function Code({ title, code, secret }: { title: string; code: string; secret?: string }) {
  const [shown, setShown] = useState(false);
  const holdsSecret = secret && code.includes(secret);
  return (
    <section className="px-4 py-3">
      <div className="mb-1.5 flex items-center gap-1">
        <h2 className="min-w-0 flex-1 font-semibold">{title}</h2>
        {holdsSecret && <RevealButton shown={shown} onToggle={() => setShown(!shown)} what={`the token: ${title}`} />}
        <CopyButton text={code} label={`Copy: ${title}`} words="Copy" />
      </div>
      <SecretCode
        code={code}
        secret={secret}
        shown={shown}
        className="overflow-x-auto rounded-control bg-panel p-3 font-mono text-dense"
      />
    </section>
  );
}

function TestTrace({ token }: { token: string }) {
  const [busy, setBusy] = useState(false);
  const arrivals = useArrivals();
  const send = async () => {
    setBusy(true);
    const { body } = testTrace(Date.now());
    try {
      const answer = await fetch("/api/otel/v1/traces", {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      say(answer.ok ? "Test trace sent" : `The server refused the test trace (${answer.status})`);
    } catch {
      say("The test trace could not be sent: no answer from the server");
    }
    setBusy(false);
    arrivals.refetch();
  };
  return (
    <button type="button" className="btn w-full" onClick={send} disabled={busy}>
      <Send size={14} aria-hidden /> Send a test trace
    </button>
  );
}
