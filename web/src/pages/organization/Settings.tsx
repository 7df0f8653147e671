import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { bundleQuery } from "../../api/account";
import { changeOrganization, organizationQuery } from "../../api/account-organization";
import type { Organization, OrganizationSettings } from "../../api/account-types";
import { mayManage } from "../../model/roles";
import { showToast } from "../../model/toasts";
import { Problem, Submit } from "../../parts/MutationButton";
import { Section } from "../../parts/Page";
import { QueryView } from "../../parts/states";
import { ZoneSelect } from "../../parts/ZoneSelect";
import { Field } from "../../ui/Field";
import { Switch } from "../../ui/Switch";

export function Settings({ organization }: { organization: Organization }) {
  const query = useQuery(organizationQuery(organization.id));
  return (
    <Section title="Settings">
      <QueryView query={query}>{(settings) => <Form organization={organization} settings={settings} />}</QueryView>
    </Section>
  );
}

function Form({ organization, settings }: { organization: Organization; settings: OrganizationSettings }) {
  const manages = mayManage(organization.role);
  const [name, setName] = useState(settings.name);
  const [timezone, setZone] = useState(settings.timezone || "UTC");
  const client = useQueryClient();
  const change = useMutation({
    mutationFn: (body: Partial<OrganizationSettings>) => changeOrganization(organization.id, body),
    onSuccess: (_, body) => {
      client.invalidateQueries({ queryKey: organizationQuery(organization.id).queryKey });
      client.setQueryData(
        bundleQuery.queryKey,
        (old) =>
          old && {
            ...old,
            organizations: old.organizations.map((one) =>
              one.id === organization.id
                ? { ...one, name: body.name ?? one.name, timezone: body.timezone ?? one.timezone }
                : one,
            ),
          },
      );
      showToast("Saved");
    },
  });
  const same = name.trim() === settings.name && timezone === settings.timezone;
  return (
    <div className="space-y-5">
      <form
        className="max-w-md space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate({ name: name.trim(), timezone });
        }}
      >
        <Field label="Name" required maxLength={100} disabled={!manages} value={name} onText={setName} />
        <ZoneSelect
          label="Time zone"
          value={timezone}
          disabled={!manages}
          hint="For reports and mails of the organization. What you see follows your own account."
          onChange={setZone}
        />
        {manages && (
          <Submit of={change} className="btn" disabled={same || !name.trim()}>
            Save
          </Submit>
        )}
      </form>
      <Switch
        label="Everyone needs a second step"
        hint="Members without a second step have to set one up on their account page."
        checked={settings.requireTwoFactor ?? false}
        disabled={!manages || change.isPending}
        onChange={(requireTwoFactor) => change.mutate({ requireTwoFactor })}
      />
      <Problem of={change} />
      {!manages && <p className="text-ink2">Only owners and admins change these.</p>}
    </div>
  );
}
