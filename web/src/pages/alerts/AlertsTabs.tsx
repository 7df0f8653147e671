import { PageTabs } from "../../parts/PageTabs";

const TABS = [
  { to: "/p/$pid/alerts/rules", label: "Rules" },
  { to: "/p/$pid/alerts/channels", label: "Channels" },
  { to: "/p/$pid/alerts/history", label: "History" },
] as const;

/** Tabs of the alerts. */
export function AlertsTabs() {
  return <PageTabs label="Parts of the alerts" tabs={TABS} />;
}
