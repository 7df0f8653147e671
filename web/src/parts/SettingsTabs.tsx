import { Link } from "@tanstack/react-router";
import { useProjectId } from "../api/hooks";
import { TAB, TabRow } from "../ui/Tabs";

const TABS = [
  { to: "/p/$pid/settings", label: "Project" },
  { to: "/p/$pid/settings/symbols", label: "Symbols" },
] as const;

/** Tabs of the settings; each has a URL. */
export function SettingsTabs() {
  const pid = useProjectId();
  return (
    <div className="mb-4 px-4">
      <TabRow label="Parts of the settings">
        {TABS.map(({ to, label }) => (
          <Link
            key={to}
            to={to}
            params={{ pid }}
            activeOptions={{ exact: true, includeSearch: false, includeHash: false }}
            className={TAB}
          >
            {label}
          </Link>
        ))}
      </TabRow>
    </div>
  );
}
