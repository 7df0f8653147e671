import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { bundleQuery, enterSession } from "../../api/account";
import { finishSetup } from "../../api/account-sign-in";
import { browserZone } from "../../model/zones";
import { FRAMEWORKS } from "../../parts/frameworks";
import { Problem, Submit } from "../../parts/MutationButton";
import { ZoneSelect } from "../../parts/ZoneSelect";
import { Field } from "../../ui/Field";
import { SelectField } from "../../ui/SelectField";
import { AuthFrame } from "./Frame";
import { SetupCode, WRONG_SETUP_CODE } from "./SetupCode";

/** Shown if the first user signed in through a provider: creates the organization and the first project. */
export function FinishSetup() {
  const [organizationName, setOrganization] = useState("");
  const [projectName, setProject] = useState("");
  const [setupCode, setCode] = useState("");
  const [framework, setFramework] = useState("opentelemetry");
  const [timezone, setZone] = useState(browserZone);
  const client = useQueryClient();
  const navigate = useNavigate();
  const finish = useMutation({
    mutationFn: () =>
      finishSetup({
        organizationName: organizationName.trim(),
        projectName: projectName.trim(),
        framework,
        timezone,
        setupCode,
      }),
    onSuccess: (answer) => {
      if (answer.user) enterSession(client, answer);
      else client.removeQueries({ queryKey: bundleQuery.queryKey });
      const first = answer.project ?? answer.projects?.[0];
      navigate(first ? { to: "/p/$pid/connect", params: { pid: first.id } } : { to: "/" });
    },
  });
  return (
    <AuthFrame title="Almost there" lead="You are signed in. Name your organization and its first project.">
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          finish.mutate();
        }}
      >
        <Field
          big
          label="Organization"
          autoComplete="organization"
          required
          value={organizationName}
          onText={setOrganization}
          placeholder="Acme"
        />
        <ZoneSelect big label="Time zone of the organization" value={timezone} onChange={setZone} />
        <Field
          big
          label="First project"
          required
          maxLength={100}
          value={projectName}
          onText={setProject}
          placeholder="shop"
        />
        <SelectField big label="What sends the data" value={framework} options={FRAMEWORKS} onChange={setFramework} />
        <SetupCode value={setupCode} onText={setCode} />
        <Problem of={finish} own={WRONG_SETUP_CODE} />
        <Submit of={finish} busy="Creating…" className="btn btn-primary btn-big w-full">
          Create organization and project
        </Submit>
      </form>
    </AuthFrame>
  );
}
