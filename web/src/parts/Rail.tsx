import { Link } from "@tanstack/react-router";
import { PanelLeftClose, PanelLeftOpen, Star } from "lucide-react";
import { useProjectId } from "../api/hooks";
import { useSavedViews } from "../api/saved-views";
import { openedSearch, VIEW_PAGES } from "../model/saved-views";
import type { SavedView } from "../model/types";
import { Tip } from "../ui/Tip";
import { Logo } from "./Logo";
import { NAV, NAV_LOW, type NavItem } from "./nav";

export function Rail({ narrow, onNarrow, drawer }: { narrow: boolean; onNarrow?: () => void; drawer?: boolean }) {
  const Toggle = narrow ? PanelLeftOpen : PanelLeftClose;
  const starred = useSavedViews().filter((view) => view.starred);
  return (
    <nav
      aria-label="Pages"
      className={`flex h-full flex-col bg-panel py-2 ${narrow ? "w-13" : "w-50"} ${drawer ? "w-64!" : "border-line border-r"}`}
    >
      <Home narrow={narrow} />
      <div className="mt-2 flex flex-1 flex-col gap-0.5 overflow-y-auto px-2">
        {NAV.map((item) => (
          <Item key={item.to} item={item} narrow={narrow} />
        ))}
        {starred.length > 0 && (
          <ul aria-label="Starred views" className="mt-2 flex flex-col gap-0.5 border-line border-t pt-2">
            {starred.map((view) => (
              <StarredView key={view.id} view={view} narrow={narrow} />
            ))}
          </ul>
        )}
        <div className="my-2 border-line border-t" />
        {NAV_LOW.map((item) => (
          <Item key={item.to} item={item} narrow={narrow} />
        ))}
      </div>
      {onNarrow && (
        <div className="px-2">
          <button
            type="button"
            className="btn btn-ghost w-full justify-start! px-2.5! text-ink2!"
            onClick={onNarrow}
            aria-label={narrow ? "Expand the rail" : "Collapse the rail"}
          >
            <Toggle size={16} aria-hidden />
            {!narrow && "Collapse"}
          </button>
        </div>
      )}
    </nav>
  );
}

function Home({ narrow }: { narrow: boolean }) {
  const pid = useProjectId();
  return (
    <Link
      to="/p/$pid"
      params={{ pid }}
      className="mx-2 flex h-8 items-center gap-2 rounded-control px-1.5 font-semibold text-section"
      aria-label="Tidewatch, overview"
    >
      <Logo size={22} />
      {!narrow && <span className="tracking-tight">Tidewatch</span>}
    </Link>
  );
}

function StarredView({ view, narrow }: { view: SavedView; narrow: boolean }) {
  const pid = useProjectId();
  const { to, label } = VIEW_PAGES[view.page];
  const link = (
    <Link
      to={to}
      params={{ pid }}
      search={openedSearch(view) as never}
      activeOptions={{ exact: true, includeSearch: true }}
      aria-label={narrow ? `${view.name}, ${label}` : undefined}
      title={narrow ? undefined : `${view.name} (${label})`}
      className={`${ITEM} w-full`}
    >
      <Star size={16} aria-hidden className="shrink-0" />
      {!narrow && <span className="truncate">{view.name}</span>}
    </Link>
  );
  return (
    <li>
      {narrow ? (
        <Tip text={`${view.name} (${label})`} side="right">
          {link}
        </Tip>
      ) : (
        link
      )}
    </li>
  );
}

const ITEM =
  "group flex h-8 items-center gap-2.5 rounded-control px-2.5 text-ink2 hover:bg-hover hover:text-ink aria-[current=page]:bg-accentsoft aria-[current=page]:font-medium aria-[current=page]:text-accent";

function Item({ item, narrow }: { item: NavItem; narrow: boolean }) {
  const pid = useProjectId();
  const Icon = item.icon;
  const link = (
    <Link
      to={item.to}
      params={{ pid }}
      activeOptions={{ exact: item.to === "/p/$pid", includeSearch: false }}
      aria-label={narrow ? item.label : undefined}
      className={ITEM}
    >
      <Icon size={16} aria-hidden className="shrink-0" />
      {!narrow && <span className="truncate">{item.label}</span>}
    </Link>
  );
  return narrow ? (
    <Tip text={item.label} side="right">
      {link}
    </Tip>
  ) : (
    link
  );
}
