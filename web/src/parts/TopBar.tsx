import { Link, useLocation, useMatches } from "@tanstack/react-router";
import { ChevronRight, CircleHelp, Menu, Search } from "lucide-react";
import { lazy, Suspense } from "react";
import { useProjectId } from "../api/hooks";
import { isFiltered } from "../model/global-filter";
import { NAV, NAV_LOW } from "./nav";
import { RangePicker } from "./RangePicker";

// Menus load after the first paint, which shows their places.
const AlertBell = lazy(() => import("./AlertBell").then((part) => ({ default: part.AlertBell })));
const GlobalFilter = lazy(() => import("./GlobalFilter").then((part) => ({ default: part.GlobalFilter })));
const ProjectSwitcher = lazy(() => import("./ProjectSwitcher").then((part) => ({ default: part.ProjectSwitcher })));
const RefreshControl = lazy(() => import("./RefreshControl").then((part) => ({ default: part.RefreshControl })));
const UserMenu = lazy(() => import("./UserMenu").then((part) => ({ default: part.UserMenu })));

interface Props {
  onRail: () => void;
  onPalette: () => void;
  onHelp: () => void;
  onNewProject: () => void;
}

export function TopBar({ onRail, onPalette, onHelp, onNewProject }: Props) {
  const hasRange = useLocation({ select: (location) => isFiltered(location.pathname) });
  return (
    <header className="flex shrink-0 flex-wrap items-center gap-x-1.5 gap-y-1 border-line border-b px-2 py-1.5 md:px-3 lg:h-11 lg:flex-nowrap lg:py-0">
      <button
        type="button"
        className="btn btn-ghost btn-icon md:hidden"
        aria-label="Open the page list"
        onClick={onRail}
      >
        <Menu size={18} aria-hidden />
      </button>
      <Suspense fallback={<span className="h-7 w-32" />}>
        <ProjectSwitcher onNew={onNewProject} />
      </Suspense>
      <Crumbs />
      <span className="flex-1 md:hidden" />
      <button
        type="button"
        className="btn text-ink2! max-md:btn-icon"
        onClick={onPalette}
        aria-label={`Jump to… ${isMac ? "⌘K" : "Ctrl K"}`}
      >
        <Search size={14} aria-hidden />
        <span className="hidden lg:inline">Jump to…</span>
        <kbd className="hidden rounded border border-line px-1 font-mono text-[11px] leading-4 lg:inline">
          {isMac ? "⌘K" : "Ctrl K"}
        </kbd>
      </button>
      <button
        type="button"
        className="btn btn-ghost btn-icon order-last hidden md:inline-flex"
        aria-label="Keyboard shortcuts"
        onClick={onHelp}
      >
        <CircleHelp size={16} aria-hidden />
      </button>
      <Suspense fallback={<span className="inline-block size-7" />}>
        <AlertBell />
      </Suspense>
      <span className="md:order-last">
        <Suspense fallback={<span className="inline-block size-7" />}>
          <UserMenu />
        </Suspense>
      </span>
      {hasRange && (
        <div className="flex min-w-0 items-center gap-1 max-lg:w-full md:max-lg:order-last">
          <Suspense fallback={<span className="h-7 w-24" />}>
            <GlobalFilter />
          </Suspense>
        </div>
      )}
      {hasRange && (
        <div className="flex items-center gap-1 max-md:w-full">
          <RangePicker />
          <Suspense fallback={<span className="h-7 w-14" />}>
            <RefreshControl />
          </Suspense>
        </div>
      )}
    </header>
  );
}

/** Long names take what the controls leave. */
const CRUMBS = "flex min-w-0 flex-1 basis-20 items-center max-md:hidden";

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

function Crumbs() {
  const pid = useProjectId();
  const path = useLocation({ select: (location) => location.pathname });
  const leaf = useMatches({ select: (matches) => matches.at(-1)?.params as Record<string, string> | undefined });
  const rest = path.replace(/^\/p\/[^/]+/, "");
  const item = [...NAV.slice(1), ...NAV_LOW].find((one) => rest.startsWith(one.to.replace("/p/$pid", "")));
  if (!item) return <Crumb label={/^\/?$/.test(rest) ? "Overview" : "Not found"} />;
  const detail =
    leaf?.name ??
    leaf?.service ??
    (leaf?.traceId ? leaf.traceId.slice(0, 8) : leaf?.hash ? leaf.hash.slice(0, 8) : leaf?.rowId ? "Call" : undefined);
  return (
    <nav aria-label="Breadcrumb" className={CRUMBS}>
      <ChevronRight size={14} aria-hidden className="shrink-0 text-ink2" />
      {detail ? (
        <Link to={item.to} params={{ pid }} className="shrink-0 rounded px-1.5 text-ink2 hover:text-ink">
          {item.label}
        </Link>
      ) : (
        <span aria-current="page" className="px-1.5 font-medium">
          {item.label}
        </span>
      )}
      {detail && (
        <>
          <ChevronRight size={14} aria-hidden className="shrink-0 text-ink2" />
          <span aria-current="page" className="truncate px-1.5 font-medium" title={detail}>
            {detail}
          </span>
        </>
      )}
    </nav>
  );
}

function Crumb({ label }: { label: string }) {
  return (
    <nav aria-label="Breadcrumb" className={CRUMBS}>
      <ChevronRight size={14} aria-hidden className="shrink-0 text-ink2" />
      <span aria-current="page" className="px-1.5 font-medium">
        {label}
      </span>
    </nav>
  );
}
