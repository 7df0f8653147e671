// Downloads the records that the filters hold.
import { Menu } from "@base-ui/react/menu";
import { ChevronDown, Download } from "lucide-react";
import { useState } from "react";
import { download } from "../../api/client";
import { useGlobalFilter, withFilter } from "../../api/global-filter";
import { useProjectId } from "../../api/hooks";
import type { LogBody } from "../../api/routes";
import { showToast } from "../../model/toasts";

const EXPORT = "/api/logs/export";
const FORMATS = [
  ["ndjson", "NDJSON", "an object per line"],
  ["csv", "CSV", "for spreadsheets"],
] as const;

export function ExportMenu({ body }: { body: LogBody }) {
  const projectId = useProjectId();
  const filter = useGlobalFilter();
  const [busy, setBusy] = useState(false);
  const run = async (format: string) => {
    setBusy(true);
    try {
      await download(EXPORT, withFilter(filter, EXPORT, { projectId, format }), `logs.${format}`, body);
    } catch (error) {
      showToast(error instanceof Error ? error.message : String(error));
    }
    setBusy(false);
  };
  return (
    <Menu.Root>
      <Menu.Trigger className="btn" disabled={busy}>
        <Download size={14} aria-hidden /> {busy ? "Exporting…" : "Export"}
        <ChevronDown size={13} aria-hidden className="text-ink2" />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner sideOffset={4} align="end" className="z-50">
          <Menu.Popup className="menu appear w-56">
            {FORMATS.map(([format, label, about]) => (
              <Menu.Item key={format} className="menu-item" onClick={() => run(format)}>
                <span className="flex-1">{label}</span>
                <span className="text-caption text-ink2">{about}</span>
              </Menu.Item>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
