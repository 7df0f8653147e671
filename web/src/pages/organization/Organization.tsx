import { getRouteApi } from "@tanstack/react-router";
import { Building2 } from "lucide-react";
import { useState } from "react";
import { useBundle } from "../../api/account";
import type { Organization, People } from "../../api/account-types";
import { lastProject } from "../../api/session";
import { ROLE_WORDS } from "../../model/role-words";
import { asRole, mayManage } from "../../model/roles";
import { PageHead } from "../../parts/Page";
import { Empty } from "../../parts/states";
import { Chip } from "../../ui/Chip";
import { SearchLink } from "../../ui/SearchLink";
import { Select } from "../../ui/Select";
import { TAB, TabRow } from "../../ui/Tabs";
import { Audit } from "./Audit";
import { Invitations } from "./Invitations";
import { Members } from "./Members";
import { NewOrganization } from "./NewOrganization";
import { Settings } from "./Settings";
import { SsoTab } from "./Sso";

const route = getRouteApi("/signed-in/plain/organization");

const TABS = [
  { tab: undefined, label: "Members", manage: false },
  { tab: "invitations", label: "Invitations", manage: true },
  { tab: "sso", label: "Single sign-on", manage: true },
  { tab: "audit", label: "Audit log", manage: true },
  { tab: "settings", label: "Settings", manage: false },
] as const;

/** The organization in the URL, else that of the last opened project, else the first. */
function chosen(bundle: People, wanted: number | undefined): Organization | undefined {
  const last = bundle.projects.find((one) => one.id === lastProject())?.organizationId;
  const all = bundle.organizations;
  const found = wanted ? all.find((one) => one.id === wanted) : (all.find((one) => one.id === last) ?? all[0]);
  return found && { id: found.id, name: found.name, role: asRole(found.role) };
}

export function OrganizationPage() {
  const { tab, org } = route.useSearch();
  const navigate = route.useNavigate();
  const bundle = useBundle();
  const [adding, setAdding] = useState(false);
  if (!bundle) return null;
  const organization = chosen(bundle, org);
  const add = (
    <button type="button" className="btn" onClick={() => setAdding(true)}>
      <Building2 size={14} aria-hidden className="text-ink2" /> New organization
    </button>
  );
  const dialog = adding && (
    <NewOrganization
      close={() => setAdding(false)}
      onMade={(id) => {
        setAdding(false);
        navigate({ search: { org: id } });
      }}
    />
  );
  if (!organization)
    return (
      <>
        <Empty
          heading
          title={org ? "No such organization" : "You are in no organization"}
          action={
            <>
              {bundle.organizations.map((one) => (
                <SearchLink key={one.id} change={{ org: one.id }} className="btn">
                  {one.name}
                </SearchLink>
              ))}
              {add}
            </>
          }
        >
          {org
            ? "It may have been removed, or you are not a member of it."
            : "Ask for an invitation, or make one of your own."}
        </Empty>
        {dialog}
      </>
    );
  const manages = mayManage(organization.role);
  return (
    <>
      <PageHead
        title={organization.name}
        sub={
          <>
            You are{" "}
            <Chip tip={ROLE_WORDS[organization.role].means}>{ROLE_WORDS[organization.role].label.toLowerCase()}</Chip>
          </>
        }
        actions={
          <>
            {bundle.organizations.length > 1 && (
              <Select
                label="Organization"
                value={String(organization.id)}
                options={bundle.organizations.map((one) => ({ value: String(one.id), label: one.name }))}
                onChange={(id) => navigate({ search: { org: Number(id), tab } })}
              />
            )}
            {add}
          </>
        }
      />
      <div className="px-4">
        <TabRow label="Parts of the organization">
          {TABS.filter((one) => manages || !one.manage).map((one) => (
            <SearchLink
              key={one.label}
              change={{ tab: one.tab, action: undefined, by: undefined, before: undefined }}
              current={tab === one.tab}
              className={TAB}
            >
              {one.label}
            </SearchLink>
          ))}
        </TabRow>
      </div>
      <div className="space-y-4 px-4 py-4" key={organization.id}>
        <Part organization={organization} tab={tab} manages={manages} />
      </div>
      {dialog}
    </>
  );
}

function Part({ organization, tab, manages }: { organization: Organization; tab?: string; manages: boolean }) {
  if (tab === undefined) return <Members organization={organization} />;
  if (tab === "settings") return <Settings organization={organization} />;
  if (!manages)
    return (
      <Empty title="For owners and admins">
        Your role in {organization.name} is {ROLE_WORDS[organization.role].label.toLowerCase()}. Ask an owner or admin.
      </Empty>
    );
  if (tab === "invitations") return <Invitations organization={organization} />;
  if (tab === "sso") return <SsoTab organization={organization} />;
  return <Audit organization={organization} />;
}
