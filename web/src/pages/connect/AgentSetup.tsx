import { useMutation, useQuery } from "@tanstack/react-query";
import { Bot } from "lucide-react";
import { useState } from "react";
import { draftsQuery, makeSetupToken, type SetupDraft, type SetupToken, useAnswerDraft } from "../../api/account-setup";
import type { ProjectExtra } from "../../api/account-types";
import { agentPrompt } from "../../model/agent-prompt";
import { plural } from "../../model/format";
import { publicAddress } from "../../model/public-address";
import { showToast } from "../../model/toasts";
import { CommandBlock } from "../../parts/Command";
import { MutationButton, Problem } from "../../parts/MutationButton";

/** Setup tokens for coding agents, valid for one hour, and approval of the projects that an agent proposes. */
export function AgentSetup({ project }: { project: ProjectExtra }) {
  const [made, setMade] = useState<SetupToken | null>(null);
  const make = useMutation({ mutationFn: () => makeSetupToken(project.organizationId), onSuccess: setMade });
  return (
    <section aria-label="Set up by a coding agent" className="panel space-y-3 p-4">
      <h2 className="flex items-center gap-2 font-medium">
        <Bot size={16} aria-hidden className="text-ink2" /> Let a coding agent do it
      </h2>
      {made ? (
        <>
          <CommandBlock
            label="For the agent, in your repository"
            code={agentPrompt(publicAddress(made.backendUrl, location.origin), made.token)}
            secret={made.token}
          />
          <Drafts />
        </>
      ) : (
        <>
          <p className="text-ink2">
            It looks at your repository and proposes projects. You see them here and say yes; then it gets their tokens
            and configures the SDKs. Its own token opens nothing else and is over in an hour.
          </p>
          <Problem of={make} />
          <MutationButton of={make} onClick={() => make.mutate()}>
            Make a prompt for the agent
          </MutationButton>
        </>
      )}
    </section>
  );
}

function Drafts() {
  const drafts = useQuery(draftsQuery).data ?? [];
  if (!drafts.length)
    return (
      <p role="status" className="text-ink2">
        Waiting for what the agent proposes…
      </p>
    );
  return (
    <ul className="space-y-3">
      {drafts.map((draft) => (
        <Draft key={draft.id} draft={draft} />
      ))}
    </ul>
  );
}

function Draft({ draft }: { draft: SetupDraft }) {
  const answer = useAnswerDraft();
  const reply = (yes: boolean) =>
    answer.mutate(
      { draft, yes },
      { onSuccess: () => showToast(yes ? `${plural(draft.projects.length, "project")} made` : "Refused") },
    );
  return (
    <li className="space-y-2 rounded-control border border-line p-3">
      <p className="font-medium">The agent proposes {plural(draft.projects.length, "project")}:</p>
      <ul className="max-h-60 overflow-y-auto">
        {draft.projects.map((one, place) => (
          <li key={place} className="flex justify-between gap-3">
            <span className="min-w-0 truncate">{one.name}</span>
            <span className="text-ink2">{one.framework}</span>
          </li>
        ))}
      </ul>
      <Problem of={answer} own={{ 409: "The agent has changed its plan. Look at it again." }} />
      <div className="flex gap-2">
        <MutationButton of={answer} className="btn flex-1" onClick={() => reply(false)}>
          Refuse
        </MutationButton>
        <MutationButton of={answer} className="btn btn-primary flex-1" onClick={() => reply(true)}>
          Make them
        </MutationButton>
      </div>
    </li>
  );
}
