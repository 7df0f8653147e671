// The bell of the top bar: how many alerts are open, and what fired lately.
import { Popover } from "@base-ui/react/popover";
import { Link } from "@tanstack/react-router";
import { Bell } from "lucide-react";
import { useState } from "react";
import { useProjectId } from "../api/hooks";
import { useNotifications, useOpenAlerts } from "../api/rules";
import { Ago } from "./Ago";
import { PathLink } from "./PathLink";

const SHOWN = 8;

export function AlertBell() {
  const pid = useProjectId();
  const open = useOpenAlerts();
  const [isOpen, setIsOpen] = useState(false);
  const query = useNotifications({ pagination: { page: 1, pageSize: SHOWN } }, isOpen);
  const rows = query.data?.data ?? [];
  const label = open === 0 ? "Alerts" : `Alerts: ${open} open`;
  return (
    <Popover.Root open={isOpen} onOpenChange={setIsOpen}>
      <Popover.Trigger className="btn btn-ghost btn-icon relative shrink-0" aria-label={label}>
        <Bell size={16} aria-hidden />
        {open > 0 && (
          <span
            aria-hidden
            className="-top-0.5 -right-0.5 absolute grid h-4 min-w-4 place-items-center rounded-full bg-error px-1 font-semibold text-[10px] text-bg"
          >
            {open > 99 ? "99+" : open}
          </span>
        )}
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner sideOffset={4} align="end" className="z-50">
          <Popover.Popup className="menu appear w-80 max-w-[calc(100vw-16px)] p-2!">
            <Popover.Title className="px-2 py-1 font-semibold">What fired lately</Popover.Title>
            {query.error && <p className="px-2 py-1 text-error">{query.error.message}</p>}
            {!query.error && query.data && rows.length === 0 && <p className="px-2 py-1 text-ink2">Nothing.</p>}
            {!query.data && !query.error && <p className="px-2 py-1 text-ink2">Loading…</p>}
            <ul>
              {rows.map((row) => (
                <li key={row.id}>
                  <PathLink
                    path={row.path}
                    className="block rounded-control px-2 py-1 hover:bg-bg"
                    onFollow={() => setIsOpen(false)}
                  >
                    <span className="flex items-baseline justify-between gap-2">
                      <span className={row.open ? "font-medium text-error" : "text-ink2"}>
                        {row.status === "resolved" ? "resolved" : row.open ? row.severity : "fired"}
                      </span>
                      <span className="text-dense text-ink2">
                        <Ago at={row.createdAt} />
                      </span>
                    </span>
                    <span className="line-clamp-2 [overflow-wrap:anywhere]">{row.subject}</span>
                  </PathLink>
                </li>
              ))}
            </ul>
            <Link
              to="/p/$pid/alerts/history"
              params={{ pid }}
              className="mt-1 block rounded-control px-2 py-1 font-medium hover:bg-bg"
              onClick={() => setIsOpen(false)}
            >
              All alerts
            </Link>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}
