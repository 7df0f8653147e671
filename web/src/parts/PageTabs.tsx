import { Link } from "@tanstack/react-router";
import { useProjectId } from "../api/hooks";
import { TAB, TabRow } from "../ui/Tabs";

type Page =
  | "/p/$pid/alerts/channels"
  | "/p/$pid/alerts/history"
  | "/p/$pid/alerts/rules"
  | "/p/$pid/settings"
  | "/p/$pid/settings/symbols";

interface Props {
  label: string;
  tabs: readonly { to: Page; label: string }[];
}

/** Tabs that are pages of the project; each has a URL. */
export function PageTabs({ label, tabs }: Props) {
  const pid = useProjectId();
  return (
    <div className="mb-4 px-4">
      <TabRow label={label}>
        {tabs.map((tab) => (
          <Link
            key={tab.to}
            to={tab.to}
            params={{ pid }}
            activeOptions={{ exact: true, includeSearch: false, includeHash: false }}
            className={TAB}
          >
            {tab.label}
          </Link>
        ))}
      </TabRow>
    </div>
  );
}
