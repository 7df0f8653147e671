// Command palette (Ctrl K): pages, projects, whatever has a name in the project, saved views, actions, or a pasted trace id.
import { Dialog } from "@base-ui/react/dialog";
import { useNavigate } from "@tanstack/react-router";
import {
  Activity,
  Bookmark,
  Bot,
  Building2,
  ChartLine,
  FileCode,
  FolderOpen,
  Hash,
  Link as LinkIcon,
  ListChecks,
  type LucideIcon,
  Moon,
  Plus,
  Search,
  Server,
  Sun,
  TriangleAlert,
  UserRound,
} from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { useBundle } from "../api/account";
import { useGet, usePost, useProjectId } from "../api/hooks";
import { useRange } from "../api/range";
import { useSavedViews } from "../api/saved-views";
import { setTheme } from "../api/theme";
import { valuesText } from "../model/global-filter";
import { mayCreateProject } from "../model/roles";
import { openedSearch, VIEW_PAGES } from "../model/saved-views";
import { showToast } from "../model/toasts";
import { asTraceId } from "../model/traceid";
import { copyText } from "../ui/Copy";
import { NAV, NAV_LOW } from "./nav";

/** Pages of the user and the organization. */
const PLACES = [
  { to: "/account", label: "Account", icon: UserRound },
  { to: "/organization", label: "Organization", icon: Building2 },
] as const;

/** Actions of the palette that do not leave the page. */
const ACTIONS = [
  { id: "light", label: "Use the light theme", icon: Sun, run: () => setTheme("light") },
  { id: "dark", label: "Use the dark theme", icon: Moon, run: () => setTheme("dark") },
  {
    id: "link",
    label: "Copy a link to this page",
    icon: LinkIcon,
    run: async () => showToast((await copyText(location.href)) ? "Copied." : "The browser refused to copy."),
  },
];

interface Choice {
  id: string;
  label: string;
  kind: string;
  icon: LucideIcon;
  run: () => void;
}
interface Props {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  onNewProject: () => void;
}

export function Palette(props: Props) {
  return (
    <Dialog.Root open={props.open} onOpenChange={props.onOpenChange}>
      <Dialog.Portal>
        <Dialog.Backdrop className="appear fixed inset-0 z-40 bg-black/40" />
        <Dialog.Popup
          className="menu appear fixed top-[12vh] left-1/2 z-50 flex max-h-[70vh] w-[calc(100vw-24px)] max-w-xl -translate-x-1/2 flex-col p-0!"
          aria-label="Jump to"
        >
          <Body {...props} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Body({ onOpenChange, onNewProject }: Props) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const choices = useChoices(text, onNewProject);
  const chosen = choices[Math.min(at, choices.length - 1)];
  // Deliberate: a changed text resets the selection
  useEffect(() => setAt(0), [text]);
  useEffect(() => {
    list.current?.querySelector("[data-active=true]")?.scrollIntoView({ block: "nearest" });
  });
  const run = (choice: Choice | undefined) => {
    if (!choice) return;
    onOpenChange(false);
    choice.run();
  };
  return (
    <>
      <div className="flex items-center gap-2 border-line border-b px-3">
        <Search size={16} aria-hidden className="text-ink2" />
        <input
          role="combobox"
          aria-expanded
          aria-controls="palette-list"
          aria-activedescendant={chosen ? `palette-${chosen.id}` : undefined}
          aria-label="Jump to a page, view, project, name or trace id"
          className="h-11 flex-1 bg-transparent outline-none"
          placeholder="Page, view, project, endpoint, task, issue, service, metric, or paste a trace id"
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
            if (step) {
              event.preventDefault();
              setAt((old) => (Math.min(old, choices.length - 1) + step + choices.length) % Math.max(1, choices.length));
            }
            if (event.key === "Enter") run(chosen);
          }}
        />
      </div>
      <div
        id="palette-list"
        ref={list}
        role="listbox"
        aria-label="Results"
        className="min-h-0 flex-1 overflow-auto p-1"
      >
        {choices.map((choice) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the input above drives the list by keyboard
          <div
            key={choice.id}
            id={`palette-${choice.id}`}
            role="option"
            tabIndex={-1}
            aria-selected={choice === chosen}
            data-active={choice === chosen}
            className="menu-item"
            onClick={() => run(choice)}
          >
            <choice.icon size={15} aria-hidden className="shrink-0 text-ink2" />
            <span className="min-w-0 flex-1 truncate">{choice.label}</span>
            <span className="shrink-0 text-caption text-ink2">{choice.kind}</span>
          </div>
        ))}
        {choices.length === 0 && <div className="px-3 py-6 text-center text-ink2">Nothing found for “{text}”.</div>}
      </div>
    </>
  );
}

function useChoices(text: string, onNewProject: () => void): Choice[] {
  const pid = useProjectId();
  const bundle = useBundle();
  const views = useSavedViews();
  const navigate = useNavigate();
  const query = text.trim();
  const [settled, setSettled] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setSettled(query), 150);
    return () => clearTimeout(timer);
  }, [query]);
  const traceId = asTraceId(query);
  const look = settled.length >= 2 && !traceId;
  const found = useFound(settled, look);
  return useMemo(() => {
    const has = (label: string) => label.toLowerCase().includes(query.toLowerCase());
    const out: Choice[] = [];
    if (traceId)
      out.push({
        id: "trace",
        label: traceId,
        kind: "Open trace",
        icon: Hash,
        run: () => navigate({ to: "/p/$pid/traces/$traceId", params: { pid, traceId } }),
      });
    for (const item of [...NAV, ...NAV_LOW])
      if (has(item.label))
        out.push({
          id: `page-${item.key}`,
          label: item.label,
          kind: `g ${item.key}`,
          icon: item.icon,
          run: () => navigate({ to: item.to, params: { pid } }),
        });
    for (const view of views)
      if (query ? has(view.name) : view.starred)
        out.push({
          id: `view-${view.id}`,
          label: view.name,
          kind: `View of ${VIEW_PAGES[view.page].label}`,
          icon: Bookmark,
          run: () => navigate({ to: VIEW_PAGES[view.page].to, params: { pid }, search: openedSearch(view) as never }),
        });
    for (const project of bundle?.projects ?? [])
      if (query && has(project.name))
        out.push({
          id: `project-${project.id}`,
          label: project.name,
          kind: "Project",
          icon: FolderOpen,
          run: () => navigate({ to: "/p/$pid", params: { pid: project.id } }),
        });
    for (const place of PLACES)
      if (has(place.label))
        out.push({
          id: place.to,
          label: place.label,
          kind: "Page",
          icon: place.icon,
          run: () => navigate({ to: place.to }),
        });
    if (has("Symbol files"))
      out.push({
        id: "symbols",
        label: "Symbol files",
        kind: "Settings",
        icon: FileCode,
        run: () => navigate({ to: "/p/$pid/settings/symbols", params: { pid } }),
      });
    for (const action of ACTIONS) if (query && has(action.label)) out.push({ ...action, kind: "Action" });
    if (has("New project") && mayCreateProject(bundle?.organizations))
      out.push({ id: "new", label: "New project…", kind: "", icon: Plus, run: onNewProject });
    if (look && settled === query) {
      out.push(...found);
    }
    return out;
  }, [query, settled, look, traceId, pid, bundle, views, found, navigate, onNewProject]);
}

/** Rows of each kind. */
const FOUND_MAX = 6;

/** Endpoints, tasks, AI traces, issues, services and metrics whose names contain the text. */
function useFound(text: string, enabled: boolean): Choice[] {
  const pid = useProjectId();
  const navigate = useNavigate();
  const { body } = useRange();
  const top = { ...body, search: text, pagination: { page: 1, pageSize: FOUND_MAX } };
  const endpoints = usePost("/api/endpoints/grouped", top, { enabled }).data?.data;
  const tasks = usePost("/api/tasks/grouped", top, { enabled }).data?.data;
  const aiTraces = usePost("/api/ai-traces/grouped", top, { enabled }).data?.data;
  const issues = usePost("/api/exception-stack-traces", top, { enabled }).data?.data;
  const services = useGet("/api/services", { enabled }).data?.services;
  const metrics = useGet("/api/metrics/discover", {
    enabled,
    query: { from: body.fromDate, to: body.toDate },
  }).data?.metrics;
  return useMemo(() => {
    const named = (name: string) => name.toLowerCase().includes(text.toLowerCase());
    const choice = (kind: string, icon: LucideIcon) => (label: string, run: () => void, key: string) => ({
      id: `${kind}-${key}`.replace(/[^\w-]/g, "_"),
      label,
      kind,
      icon,
      run,
    });
    const [endpoint, task, ai] = [choice("Endpoint", Activity), choice("Task", ListChecks), choice("AI trace", Bot)];
    const [issue, service, metric] = [
      choice("Issue", TriangleAlert),
      choice("Service", Server),
      choice("Metric", ChartLine),
    ];
    const first = <T,>(rows: T[] | null | undefined, nameOf: (row: T) => string) =>
      (rows ?? []).filter((row) => named(nameOf(row))).slice(0, FOUND_MAX);
    return [
      ...(endpoints ?? []).map(({ endpoint: name }, i) =>
        endpoint(name, () => navigate({ to: "/p/$pid/endpoints/$name", params: { pid, name } }), `${i}`),
      ),
      ...(tasks ?? []).map(({ taskName: name }, i) =>
        task(name, () => navigate({ to: "/p/$pid/tasks/$name", params: { pid, name } }), `${i}`),
      ),
      ...(aiTraces ?? []).map(({ traceName: name }, i) =>
        ai(name, () => navigate({ to: "/p/$pid/ai/$name", params: { pid, name } }), `${i}`),
      ),
      ...(issues ?? []).map(({ title, exceptionHash: hash }) =>
        issue(title, () => navigate({ to: "/p/$pid/issues/$hash", params: { pid, hash } }), hash),
      ),
      ...first(services, (row) => row.name).map(({ name }, i) =>
        service(
          name,
          () => navigate({ to: "/p/$pid/traces", params: { pid }, search: { service: valuesText([name]) } }),
          `${i}`,
        ),
      ),
      ...first(metrics, (row) => row.name).map(({ name }, i) =>
        metric(name, () => navigate({ to: "/p/$pid/metrics", params: { pid }, search: { name } }), `${i}`),
      ),
    ];
  }, [text, pid, endpoints, tasks, aiTraces, issues, services, metrics, navigate]);
}
