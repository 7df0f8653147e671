// The pages of a project in the order of the rail, with their shortcuts.
import {
  Activity,
  Bot,
  Cable,
  ChartLine,
  Flame,
  House,
  ListChecks,
  type LucideIcon,
  MonitorPlay,
  Rocket,
  ScrollText,
  Settings,
  TriangleAlert,
  Waypoints,
} from "lucide-react";

export interface NavItem {
  to:
    | "/p/$pid"
    | "/p/$pid/endpoints"
    | "/p/$pid/tasks"
    | "/p/$pid/ai"
    | "/p/$pid/issues"
    | "/p/$pid/sessions"
    | "/p/$pid/traces"
    | "/p/$pid/logs"
    | "/p/$pid/metrics"
    | "/p/$pid/profiles"
    | "/p/$pid/deploys"
    | "/p/$pid/connect"
    | "/p/$pid/settings";
  label: string;
  icon: LucideIcon;
  key: string;
}

export const NAV: NavItem[] = [
  { to: "/p/$pid", label: "Overview", icon: House, key: "o" },
  { to: "/p/$pid/endpoints", label: "Endpoints", icon: Activity, key: "e" },
  { to: "/p/$pid/tasks", label: "Tasks", icon: ListChecks, key: "t" },
  { to: "/p/$pid/ai", label: "AI traces", icon: Bot, key: "a" },
  { to: "/p/$pid/issues", label: "Issues", icon: TriangleAlert, key: "i" },
  { to: "/p/$pid/sessions", label: "Sessions", icon: MonitorPlay, key: "n" },
  { to: "/p/$pid/traces", label: "Traces", icon: Waypoints, key: "r" },
  { to: "/p/$pid/logs", label: "Logs", icon: ScrollText, key: "l" },
  { to: "/p/$pid/metrics", label: "Metrics", icon: ChartLine, key: "m" },
  { to: "/p/$pid/profiles", label: "Profiles", icon: Flame, key: "p" },
  { to: "/p/$pid/deploys", label: "Deploys", icon: Rocket, key: "d" },
];
export const NAV_LOW: NavItem[] = [
  { to: "/p/$pid/connect", label: "Connect", icon: Cable, key: "c" },
  { to: "/p/$pid/settings", label: "Settings", icon: Settings, key: "s" },
];
