// The frame of pages that belong to a user or an organization, not to a project.
import { Link, Outlet } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import { useBundle } from "../api/account";
import { lastProject } from "../api/session";
import { Logo } from "./Logo";
import { useLanding } from "./landing";
import { UserMenu } from "./UserMenu";

const PLACE =
  "inline-flex h-8 items-center rounded-control px-2.5 font-medium text-ink2 hover:bg-hover hover:text-ink aria-[current=page]:bg-accentsoft aria-[current=page]:text-accent";

export function PlainShell() {
  useLanding();
  return (
    <div className="flex h-dvh flex-col">
      <a href="#main" className="btn btn-primary fixed top-2 left-2 z-50 -translate-y-16 focus:translate-y-0">
        Skip to content
      </a>
      <header className="flex shrink-0 flex-wrap items-center gap-x-2 gap-y-1 border-line border-b px-3 py-1.5 sm:h-11 sm:py-0">
        <Link to="/" className="flex h-8 items-center gap-2 rounded-control px-1 font-semibold" aria-label="Tidewatch">
          <Logo size={22} />
          <span className="tracking-tight max-sm:hidden">Tidewatch</span>
        </Link>
        <Back />
        <span className="flex-1" />
        <nav aria-label="Account and organization" className="flex gap-1">
          <Link to="/account" className={PLACE} activeOptions={{ includeSearch: false }}>
            Account
          </Link>
          <Link to="/organization" className={PLACE} activeOptions={{ includeSearch: false }}>
            Organization
          </Link>
        </nav>
        <UserMenu />
      </header>
      <main id="main" tabIndex={-1} className="min-h-0 flex-1 overflow-auto">
        <div className="mx-auto max-w-4xl">
          <Outlet />
        </div>
      </main>
    </div>
  );
}

function Back() {
  const projects = useBundle()?.projects ?? [];
  const last = lastProject();
  const project = projects.find((one) => one.id === last) ?? projects[0];
  if (!project) return null;
  return (
    <Link
      to="/p/$pid"
      params={{ pid: project.id }}
      className="btn btn-ghost min-w-0"
      aria-label={`Back to ${project.name}`}
    >
      <ArrowLeft size={14} aria-hidden className="shrink-0" />
      <span className="max-w-40 truncate max-sm:hidden">{project.name}</span>
    </Link>
  );
}
