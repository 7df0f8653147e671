import { PageTabs } from "./PageTabs";

const TABS = [
  { to: "/p/$pid/settings", label: "Project" },
  { to: "/p/$pid/settings/symbols", label: "Symbols" },
] as const;

/** Tabs of the settings. */
export function SettingsTabs() {
  return <PageTabs label="Parts of the settings" tabs={TABS} />;
}
