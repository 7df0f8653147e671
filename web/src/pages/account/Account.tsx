import { getRouteApi } from "@tanstack/react-router";
import { useBundle } from "../../api/account";
import { PageHead } from "../../parts/Page";
import { SearchLink } from "../../ui/SearchLink";
import { TAB, TabRow } from "../../ui/Tabs";
import { Apps } from "./Apps";
import { Contact } from "./Contact";
import { Profile } from "./Profile";
import { Security } from "./Security";
import { SecurityLog } from "./SecurityLog";
import { Tokens } from "./Tokens";

const route = getRouteApi("/signed-in/plain/account");

const TABS = [
  { tab: undefined, label: "Profile" },
  { tab: "contact", label: "On-call" },
  { tab: "security", label: "Sign-in and security" },
  { tab: "tokens", label: "Access tokens" },
  { tab: "apps", label: "Signed-in applications" },
  { tab: "log", label: "Security log" },
] as const;

/** The signed-in user's account. Every tab has a URL. */
export function AccountPage() {
  const { tab } = route.useSearch();
  const user = useBundle()?.user;
  if (!user) return null;
  return (
    <>
      <PageHead title="Account" sub={user.email} />
      <div className="px-4">
        <TabRow label="Parts of the account">
          {TABS.map((one) => (
            <SearchLink key={one.label} change={{ tab: one.tab }} current={tab === one.tab} className={TAB}>
              {one.label}
            </SearchLink>
          ))}
        </TabRow>
      </div>
      <div className="space-y-4 px-4 py-4">
        {tab === undefined && <Profile user={user} />}
        {tab === "contact" && <Contact />}
        {tab === "security" && <Security user={user} />}
        {tab === "tokens" && <Tokens />}
        {tab === "apps" && <Apps />}
        {tab === "log" && <SecurityLog />}
      </div>
    </>
  );
}
