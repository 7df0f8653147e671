import { Menu } from "@base-ui/react/menu";
import { useNavigate } from "@tanstack/react-router";
import { Check, ChevronsUpDown, Plus } from "lucide-react";
import { useBundle, useProject } from "../api/account";
import { mayCreateProject } from "../model/roles";

export function ProjectSwitcher({ onNew }: { onNew: () => void }) {
  const bundle = useBundle();
  const current = useProject();
  const navigate = useNavigate();
  return (
    <Menu.Root>
      <Menu.Trigger
        className="btn btn-ghost min-w-0 px-2! font-medium!"
        aria-label={`Project: ${current?.name ?? "none"}. Switch project`}
      >
        <span
          aria-hidden
          data-letter={current?.name[0] ?? "?"}
          className="grid size-4.5 shrink-0 place-items-center rounded bg-accentsoft font-semibold text-[10px] text-accent uppercase before:content-[attr(data-letter)]"
        />
        <span className="max-w-40 truncate">{current?.name ?? "No project"}</span>
        <ChevronsUpDown size={13} aria-hidden className="text-ink2" />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner sideOffset={4} align="start" className="z-50">
          <Menu.Popup className="menu appear max-h-[70vh] w-60 overflow-auto">
            {bundle?.projects.map((project) => (
              <Menu.Item
                key={project.id}
                className="menu-item"
                onClick={() =>
                  navigate({
                    to: "/p/$pid",
                    params: { pid: project.id },
                    search: { service: undefined, env: undefined },
                  })
                }
              >
                <span className="flex-1 truncate">{project.name}</span>
                {project.id === current?.id && <Check size={14} aria-label="current" className="text-accent" />}
              </Menu.Item>
            ))}
            {mayCreateProject(bundle?.organizations) && (
              <>
                <Menu.Separator className="my-1 border-line border-t" />
                <Menu.Item className="menu-item" onClick={onNew}>
                  <Plus size={14} aria-hidden /> New project…
                </Menu.Item>
              </>
            )}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
