import { getRouteApi } from "@tanstack/react-router";
import { Send } from "lucide-react";
import { useState } from "react";
import { useProject } from "../../api/account";
import type { ProjectExtra } from "../../api/account-types";
import { isHiddenToken } from "../../model/project-settings";
import { publicAddress } from "../../model/public-address";
import { grpcEndpoint, type Protocol, snippets } from "../../model/snippets";
import { testTrace } from "../../model/test-trace";
import { showToast } from "../../model/toasts";
import { DemoCard } from "../../parts/Demo";
import { PageHead } from "../../parts/Page";
import { Token } from "../../parts/Token";
import { CopyButton } from "../../ui/Copy";
import { AgentSetup } from "./AgentSetup";
import { LiveStrip, useArrivals } from "./LiveStrip";
import { NextSteps } from "./NextSteps";
import { Services, useServices } from "./Services";
import { LanguagePicker, ProtocolPicker, SnippetSteps } from "./Snippets";
import { UnknownSenders } from "./UnknownSenders";

const route = getRouteApi("/p/$pid/connect");

export function ConnectPage() {
  const project = useProject();
  const search = route.useSearch();
  const services = useServices();
  if (!project) return null;
  const head = (
    <PageHead title="Connect" sub="Point any OpenTelemetry SDK or Collector here. No agent, no code of ours." />
  );
  // What stands above the snippets is known first, so that they do not move.
  if (services.isPending) return head;
  const otlp = `${publicAddress(project.backendUrl, location.origin)}/api/otel`;
  const protocol: Protocol = search.protocol === "grpc" ? "grpc" : "http";
  const all = snippets(otlp, project.token, undefined, protocol);
  const chosen = all.find((one) => one.key === search.lang) ?? all[0];
  return (
    <>
      {head}
      <div className="px-4 pb-4 empty:hidden">
        <Services />
      </div>
      <div className="grid gap-4 px-4 pb-8 xl:grid-cols-[minmax(0,1fr)_400px]">
        <div className="order-2 min-w-0 xl:order-1">
          <LanguagePicker all={all} chosen={chosen} />
          {chosen.offersGrpc && <ProtocolPicker chosen={protocol} />}
          <SnippetSteps
            key={`${chosen.key} ${protocol}`}
            snippet={chosen}
            secret={isHiddenToken(project.token) ? undefined : project.token}
          />
        </div>
        <div className="order-1 min-w-0 space-y-4 xl:order-2">
          <LiveStrip />
          <LookAround project={project} />
          <NextSteps project={project} />
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
                Exporters add /v1/traces, /v1/metrics and /v1/logs themselves. OTLP/gRPC has the same port and no path:{" "}
                <code className="font-mono [overflow-wrap:anywhere]">{grpcEndpoint(otlp)}</code>
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

/** Offers demo data while no service has sent data to the project. */
function LookAround({ project }: { project: ProjectExtra }) {
  const services = useServices().data?.services;
  return services?.length === 0 && !project.demo ? <DemoCard organizationId={project.organizationId} /> : null;
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
      showToast(answer.ok ? "Test trace sent" : `The server refused the test trace (${answer.status})`);
    } catch {
      showToast("The test trace could not be sent: no answer from the server");
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
