import { Dialog as Base } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import type { ReactNode } from "react";

interface Props {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  description?: string;
  wide?: boolean;
  /** Only the dialog's own button closes it: there is no close icon. */
  held?: boolean;
  /** Element that takes the focus; default: the first control. */
  initialFocus?: () => HTMLElement | null | undefined;
  children: ReactNode;
}

export function Dialog({ open, onOpenChange, title, description, wide, held, initialFocus, children }: Props) {
  return (
    <Base.Root open={open} onOpenChange={onOpenChange}>
      <Base.Portal>
        <Base.Backdrop className="appear fixed inset-0 z-40 bg-black/40" />
        <Base.Popup
          initialFocus={initialFocus}
          className={`menu appear fixed top-[12vh] left-1/2 z-50 max-h-[76vh] w-[calc(100vw-24px)] -translate-x-1/2 overflow-auto p-5! ${wide ? "max-w-3xl" : "max-w-md"}`}
        >
          <div className="mb-3 flex items-start justify-between gap-4">
            <Base.Title className="text-section font-semibold">{title}</Base.Title>
            {!held && (
              <Base.Close className="btn btn-ghost btn-icon -mt-1 -mr-2" aria-label="Close">
                <X size={16} aria-hidden />
              </Base.Close>
            )}
          </div>
          {description && <Base.Description className="mb-4 text-ink2">{description}</Base.Description>}
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
