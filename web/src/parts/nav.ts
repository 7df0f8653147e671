// The pages of a project in the order of the rail, with their shortcuts.
import {
  Activity,
  Bell,
  Bot,
  Cable,
  ChartLine,
  Flame,
  HeartPulse,
  House,
  ListChecks,
  type LucideIcon,
  MonitorPlay,
  Network,
  PhoneCall,
  Rocket,
  ScrollText,
  Settings,
  Signpost,
  Siren,
  TriangleAlert,
  Waypoints,
} from "lucide-react";

export interface NavItem {
  to:
    | "/p/$pid"
    | "/p/$pid/services"
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
    | "/p/$pid/alerts"
    | "/p/$pid/incidents"
    | "/p/$pid/status-pages"
    | "/p/$pid/on-call"
    | "/p/$pid/monitors"
    | "/p/$pid/connect"
    | "/p/$pid/settings";
  label: string;
  icon: LucideIcon;
  key: string;
}

export const NAV: NavItem[] = [
  { to: "/p/$pid", label: "Overview", icon: House, key: "o" },
  { to: "/p/$pid/services", label: "Services", icon: Network, key: "v" },
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
  { to: "/p/$pid/alerts", label: "Alerts", icon: Bell, key: "b" },
  { to: "/p/$pid/monitors", label: "Monitors", icon: HeartPulse, key: "h" },
  { to: "/p/$pid/incidents", label: "Incidents", icon: Siren, key: "f" },
  { to: "/p/$pid/status-pages", label: "Status pages", icon: Signpost, key: "w" },
  { to: "/p/$pid/on-call", label: "On-call", icon: PhoneCall, key: "u" },
];
export const NAV_LOW: NavItem[] = [
  { to: "/p/$pid/connect", label: "Connect", icon: Cable, key: "c" },
  { to: "/p/$pid/settings", label: "Settings", icon: Settings, key: "s" },
];
