import { useQuery } from "@tanstack/react-query";
import { ssoQuery } from "../../api/account-organization";
import type { Organization, Sso } from "../../api/account-types";
import { ROLE_WORDS } from "../../model/role-words";
import { asRole } from "../../model/roles";
import { Section } from "../../parts/Page";
import { QueryView } from "../../parts/states";
import { Chip } from "../../ui/Chip";

/** Read-only: SSO is configured in the server's environment. */
export function SsoTab({ organization }: { organization: Organization }) {
  const query = useQuery(ssoQuery(organization.id));
  return (
    <QueryView query={query}>
      {(sso) => (
        <div className="space-y-4">
          <Section title="Ways to sign in">
            <p className="flex flex-wrap items-center gap-2">
              <span className="font-medium">Password</span>
              {sso.passwordLogin ? <Chip tone="ok">on</Chip> : <Chip>off</Chip>}
            </p>
            <p className="mt-1 text-ink2">
              Providers are set up in the server's environment (GOOGLE_…, GITHUB_…, OIDC_…), and the password is turned
              off there (DISABLE_PASSWORD_LOGIN). Existing accounts are matched by verified e-mail.
            </p>
          </Section>
          {sso.providers.map((provider) => (
            <Section
              key={provider.id}
              title={provider.name}
              actions={provider.enabled ? <Chip tone="ok">on</Chip> : <Chip>off</Chip>}
            >
              <Provider provider={provider} />
            </Section>
          ))}
        </div>
      )}
    </QueryView>
  );
}

function Provider({ provider }: { provider: Sso["providers"][number] }) {
  const rows: [string, string][] = [
    ["Issuer", provider.issuer || "–"],
    ["Client id", provider.clientId || "–"],
    ["People without an account", provider.autoCreate ? "get one when they sign in" : "need an invitation"],
  ];
  if (provider.roleClaim) rows.push(["Role comes from the claim", provider.roleClaim]);
  return (
    <dl className="grid grid-cols-1 gap-x-6 gap-y-1 sm:grid-cols-[auto_1fr]">
      {rows.map(([label, value]) => (
        <div key={label} className="contents">
          <dt className="text-ink2">{label}</dt>
          <dd className="[overflow-wrap:anywhere] max-sm:mb-2">{value}</dd>
        </div>
      ))}
      {Object.entries(provider.roleMap ?? {}).map(([claim, role]) => (
        <div key={claim} className="contents">
          <dt className="text-ink2 [overflow-wrap:anywhere]">{claim}</dt>
          <dd className="max-sm:mb-2">{ROLE_WORDS[asRole(role)].label}</dd>
        </div>
      ))}
    </dl>
  );
}
