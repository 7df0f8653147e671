// The frame of project pages: skip link, rail (a drawer on phones), top bar, main, palette, help and shortcuts.
import { Dialog } from "@base-ui/react/dialog";
import { Outlet, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { useProject } from "../api/account";
import { useProjectId } from "../api/hooks";
import { RangeProvider, useRange } from "../api/range";
import { rememberProject } from "../api/session";
import { shift, widen } from "../model/range";
import { showToast } from "../model/toasts";
import { copyText } from "../ui/Copy";
import { moveRow, useKeys } from "../ui/keys";
import { Incomplete } from "./Incomplete";
import { useLanding } from "./landing";
import { NAV, NAV_LOW } from "./nav";
import { usePrefetchedPages } from "./prefetch";
import { Rail } from "./Rail";
import { TopBar } from "./TopBar";
import { UnknownProject } from "./UnknownProject";

// Loaded when first opened: the first page does not need them.
const Palette = lazy(() => import("./Palette").then((part) => ({ default: part.Palette })));
const Help = lazy(() => import("./Help").then((part) => ({ default: part.Help })));
const DemoBanner = lazy(() => import("./Demo").then((part) => ({ default: part.DemoBanner })));
const NewProject = lazy(() => import("./NewProject").then((part) => ({ default: part.NewProject })));

const NARROW_KEY = "tidewatch.rail";

export function Shell() {
  return (
    <RangeProvider>
      <Frame />
    </RangeProvider>
  );
}

function Frame() {
  const pid = useProjectId();
  const project = useProject();
  const [narrow, setNarrow] = useState(() => localStorage.getItem(NARROW_KEY) === "narrow");
  const [drawer, setDrawer] = useState(false);
  const [palette, setPalette] = useState(false);
  const [help, setHelp] = useState(false);
  const [newProject, setNewProject] = useState(false);
  // If navigation closes it, the new page takes the focus.
  const left = useRef(false);

  useEffect(() => rememberProject(pid), [pid]);
  useLanding(() => {
    left.current = true;
    setDrawer(false);
  });
  usePrefetchedPages();
  useShellKeys(
    () => setPalette(true),
    () => setHelp(true),
  );

  const toggle = () => {
    localStorage.setItem(NARROW_KEY, narrow ? "wide" : "narrow");
    setNarrow(!narrow);
  };
  return (
    <div className="flex h-dvh">
      <a href="#main" className="btn btn-primary fixed top-2 left-2 z-50 -translate-y-16 focus:translate-y-0">
        Skip to content
      </a>
      <div className="hidden h-full shrink-0 md:block">
        <Rail narrow={narrow} onNarrow={toggle} />
      </div>
      <Dialog.Root open={drawer} onOpenChange={setDrawer}>
        <Dialog.Portal>
          <Dialog.Backdrop className="appear fixed inset-0 z-40 bg-black/40" />
          <Dialog.Popup
            className="appear fixed inset-y-0 left-0 z-50"
            aria-label="Pages"
            finalFocus={() => !left.current}
          >
            <Rail narrow={false} drawer />
          </Dialog.Popup>
        </Dialog.Portal>
      </Dialog.Root>
      <div className="flex min-w-0 flex-1 flex-col">
        <TopBar
          onRail={() => {
            left.current = false;
            setDrawer(true);
          }}
          onPalette={() => setPalette(true)}
          onHelp={() => setHelp(true)}
          onNewProject={() => setNewProject(true)}
        />
        <Incomplete />
        {project?.demo && (
          <Suspense fallback={null}>
            <DemoBanner key={project.id} project={project} />
          </Suspense>
        )}
        <main id="main" tabIndex={-1} className="min-h-0 flex-1 overflow-auto">
          {project ? <Outlet /> : <UnknownProject onNew={() => setNewProject(true)} />}
        </main>
      </div>
      <Suspense fallback={null}>
        {palette && <Palette open onOpenChange={setPalette} onNewProject={() => setNewProject(true)} />}
        {help && <Help open onOpenChange={setHelp} />}
        {newProject && <NewProject open onOpenChange={setNewProject} />}
      </Suspense>
    </div>
  );
}

function useShellKeys(openPalette: () => void, openHelp: () => void) {
  const pid = useProjectId();
  const navigate = useNavigate();
  const { refresh, span, nowMs, zoomTo } = useRange();
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      openPalette();
    };
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, [openPalette]);
  const go = Object.fromEntries(
    [...NAV, ...NAV_LOW].map((item) => [`g ${item.key}`, () => void navigate({ to: item.to, params: { pid } })]),
  );
  useKeys({
    ...go,
    "?": openHelp,
    "/": () => document.querySelector<HTMLElement>("main [data-search]")?.focus(),
    j: () => moveRow(1),
    k: () => moveRow(-1),
    r: refresh,
    T: () => document.querySelector<HTMLElement>("[data-range-button]")?.click(),
    "-": () => zoomTo(widen(span, nowMs)),
    "+": () =>
      zoomTo({ fromMs: span.fromMs + (span.toMs - span.fromMs) / 4, toMs: span.toMs - (span.toMs - span.fromMs) / 4 }),
    "<": () => zoomTo(shift(span, -1, nowMs)),
    ">": () => zoomTo(shift(span, 1, nowMs)),
    y: async () => {
      const url = new URL(location.href);
      url.searchParams.set("from", new Date(span.fromMs).toISOString());
      url.searchParams.set("to", new Date(span.toMs).toISOString());
      if (await copyText(url.href)) showToast("Link copied, with the times fixed");
    },
  });
}
