// Saved views of a page: the open one with a mark when the address differs, the list, and the form to save or change
// one. The address alone decides what the page shows; a view is opened by going to its address.
import { Popover } from "@base-ui/react/popover";
import { Link, useLocation } from "@tanstack/react-router";
import { Bookmark, ChevronDown, Pencil, Plus, RefreshCw, Star } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useMayWrite } from "../api/account";
import { useProjectId } from "../api/hooks";
import { useChangeView, useDeleteView, useSavedViews, useSaveView, useStarView } from "../api/saved-views";
import { openedSearch, openView, savedSearch, VIEW_PAGES } from "../model/saved-views";
import { showToast } from "../model/toasts";
import type { SavedView, SavedViewPage } from "../model/types";
import { Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";
import { Switch } from "../ui/Switch";
import { Confirm } from "./Confirm";
import { MutationButton, Submit } from "./MutationButton";

export function SavedViews({ page }: { page: SavedViewPage }) {
  const search = useLocation({ select: (location) => location.searchStr });
  const views = useSavedViews().filter((view) => view.page === page);
  const [lastId, setLast] = useState<number>();
  const [isOpen, setOpen] = useState(false);
  const [form, setForm] = useState<"new" | SavedView>();
  const change = useChangeView();
  const open = openView(views, search, lastId);
  const openId = open?.view.id;
  useEffect(() => setLast(openId), [openId]);
  const current = savedSearch(search);
  const show = (what: "new" | SavedView) => {
    setOpen(false);
    setForm(what);
  };
  return (
    <>
      <Popover.Root open={isOpen} onOpenChange={setOpen}>
        <Popover.Trigger className="btn max-w-64">
          <Bookmark size={14} aria-hidden className={open ? "shrink-0 fill-current text-accent" : "shrink-0"} />
          {open && <span className="sr-only">Views: </span>}
          <span className="truncate">{open?.view.name ?? "Views"}</span>
          {open?.changed && <span className="shrink-0 text-caption text-ink2">changed</span>}
          <ChevronDown size={13} aria-hidden className="shrink-0 text-ink2" />
        </Popover.Trigger>
        <Popover.Portal>
          <Popover.Positioner sideOffset={4} align="end" className="z-50">
            <Popover.Popup
              className="menu appear w-80 max-w-[calc(100vw-24px)] p-2!"
              aria-label={`Views of ${VIEW_PAGES[page].label}`}
            >
              {open?.changed && (
                <div className="mb-2 flex flex-wrap items-center gap-2 border-line border-b pb-2">
                  <p className="min-w-0 flex-1 text-dense text-ink2">
                    The page differs from “<span className="[overflow-wrap:anywhere]">{open.view.name}</span>”.
                  </p>
                  {open.view.mayChange && (
                    <MutationButton
                      of={change}
                      className="btn"
                      onClick={() =>
                        change.mutate(
                          { id: open.view.id, search: current },
                          { onSuccess: () => showToast(`Updated the view ${open.view.name}`) },
                        )
                      }
                    >
                      <RefreshCw size={14} aria-hidden /> Update
                    </MutationButton>
                  )}
                </div>
              )}
              {views.length ? (
                <ul className="max-h-72 overflow-auto" aria-label="Saved views">
                  {views.map((view) => (
                    <ViewRow
                      key={view.id}
                      view={view}
                      current={view.id === openId && !open?.changed}
                      onOpen={() => {
                        setLast(view.id);
                        setOpen(false);
                      }}
                      onEdit={() => show(view)}
                    />
                  ))}
                </ul>
              ) : (
                <p className="px-1 py-2 text-ink2">
                  A view keeps the search, filters, order and time range of this page under a name.
                </p>
              )}
              <button type="button" className="btn mt-2 w-full" onClick={() => show("new")}>
                <Plus size={14} aria-hidden /> Save view…
              </button>
            </Popover.Popup>
          </Popover.Positioner>
        </Popover.Portal>
      </Popover.Root>
      {form === "new" && (
        <NewView page={page} search={current} onClose={() => setForm(undefined)} onSaved={(id) => setLast(id)} />
      )}
      {form && form !== "new" && <EditView view={form} onClose={() => setForm(undefined)} />}
    </>
  );
}

interface RowProps {
  view: SavedView;
  current: boolean;
  onOpen: () => void;
  onEdit: () => void;
}

function ViewRow({ view, current, onOpen, onEdit }: RowProps) {
  const pid = useProjectId();
  const star = useStarView();
  return (
    <li className="flex min-h-8 items-center gap-1 rounded hover:bg-hover">
      <button
        type="button"
        className="btn btn-ghost btn-icon"
        aria-pressed={view.starred}
        aria-label={`Star ${view.name}`}
        title={view.starred ? "Starred: in the list of pages" : "Star: show it in the list of pages"}
        onClick={() => star.mutate({ id: view.id, starred: !view.starred })}
      >
        <Star size={14} aria-hidden className={view.starred ? "fill-current text-accent" : "text-ink2"} />
      </button>
      <Link
        to={VIEW_PAGES[view.page].to}
        params={{ pid }}
        search={openedSearch(view) as never}
        onClick={onOpen}
        activeOptions={{ exact: true, includeSearch: true }}
        aria-current={current ? "true" : undefined}
        className={`min-w-0 flex-1 truncate rounded py-1 ${current ? "font-medium text-accent" : ""}`}
        title={view.name}
      >
        {view.name}
      </Link>
      {view.shared && (
        <span className="max-w-28 shrink-0 truncate text-caption text-ink2" title={`Shared by ${view.owner}`}>
          {view.own ? "shared" : view.owner}
        </span>
      )}
      {view.mayChange && (
        <button type="button" className="btn btn-ghost btn-icon" aria-label={`Change ${view.name}`} onClick={onEdit}>
          <Pencil size={13} aria-hidden className="text-ink2" />
        </button>
      )}
    </li>
  );
}

const SHARED_HINT = "Every member of the project sees it.";
const NO_SHARING = "Sharing needs more than read access.";

interface FormProps {
  name: string;
  shared: boolean;
  onName: (name: string) => void;
  onShared: (shared: boolean) => void;
}

function Fields({ name, shared, onName, onShared }: FormProps) {
  const mayWrite = useMayWrite();
  return (
    <>
      <Field big label="Name" value={name} onText={onName} maxLength={100} required autoComplete="off" />
      <Switch
        label="Shared"
        hint={mayWrite ? SHARED_HINT : NO_SHARING}
        checked={shared}
        disabled={!mayWrite && !shared}
        onChange={onShared}
      />
    </>
  );
}

interface NewProps {
  page: SavedViewPage;
  search: string;
  onClose: () => void;
  onSaved: (id: number) => void;
}

function NewView({ page, search, onClose, onSaved }: NewProps) {
  const [name, setName] = useState("");
  const [shared, setShared] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const save = useSaveView();
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Save view"
      description={`The search, filters, order and time range of ${VIEW_PAGES[page].label}.`}
      initialFocus={() => form.current?.querySelector("input")}
    >
      <form
        ref={form}
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate(
            { name, page, search, shared },
            {
              onSuccess: ({ id }) => {
                onSaved(id);
                showToast(`Saved the view ${name.trim()}`);
                onClose();
              },
            },
          );
        }}
      >
        <Fields name={name} shared={shared} onName={setName} onShared={setShared} />
        <Buttons onClose={onClose} of={save} disabled={!name.trim()} />
      </form>
    </Dialog>
  );
}

function EditView({ view, onClose }: { view: SavedView; onClose: () => void }) {
  const [name, setName] = useState(view.name);
  const [shared, setShared] = useState(view.shared);
  const [isDeleting, setDeleting] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const change = useChangeView();
  const remove = useDeleteView();
  if (isDeleting)
    return (
      <Confirm
        open
        onOpenChange={onClose}
        title="Delete the view"
        label="Delete the view"
        busy="Deleting…"
        of={remove}
        onConfirm={() => remove.mutate(view, { onSuccess: onClose })}
      >
        <p>“{view.name}” is shared: it disappears for every member of the project. What it shows is not deleted.</p>
      </Confirm>
    );
  return (
    <Dialog open onOpenChange={onClose} title="Change view" initialFocus={() => form.current?.querySelector("input")}>
      <form
        ref={form}
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate({ id: view.id, name, shared }, { onSuccess: onClose });
        }}
      >
        <Fields name={name} shared={shared} onName={setName} onShared={setShared} />
        <Buttons onClose={onClose} of={change} disabled={!name.trim()}>
          <MutationButton
            of={remove}
            className="btn btn-danger mr-auto"
            onClick={() => (view.shared ? setDeleting(true) : remove.mutate(view, { onSuccess: onClose }))}
          >
            Delete
          </MutationButton>
        </Buttons>
      </form>
    </Dialog>
  );
}

interface ButtonsProps {
  of: Parameters<typeof Submit>[0]["of"];
  disabled: boolean;
  onClose: () => void;
  children?: ReactNode;
}

function Buttons({ of, disabled, onClose, children }: ButtonsProps) {
  return (
    <div className="flex flex-wrap justify-end gap-2">
      {children}
      <button type="button" className="btn" onClick={onClose}>
        Cancel
      </button>
      <Submit of={of} busy="Saving…" disabled={disabled}>
        Save
      </Submit>
    </div>
  );
}
