// Toasts with an optional action such as Undo. Announced politely; they stay while hovered or focused.
import { X } from "lucide-react";
import { useEffect, useState, useSyncExternalStore } from "react";
import { closeToast, currentToasts, onToastsChange, type Toast } from "../model/toasts";

export function ToastArea() {
  const toasts = useSyncExternalStore(onToastsChange, currentToasts);
  return (
    <section
      aria-label="Notifications"
      aria-live="polite"
      className="fixed right-4 bottom-4 z-50 flex w-[min(360px,calc(100vw-32px))] flex-col gap-2"
    >
      {toasts.map((toast) => (
        <ToastItem key={toast.id} toast={toast} />
      ))}
    </section>
  );
}

function ToastItem({ toast }: { toast: Toast }) {
  const [held, setHeld] = useState(false);
  useEffect(() => {
    if (held) return;
    const timer = setTimeout(() => closeToast(toast.id), toast.action ? 8000 : 4000);
    return () => clearTimeout(timer);
  }, [held, toast]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: hovering and focus only hold the message
    <div
      className="menu appear flex items-center gap-2 py-1! pr-1! pl-3!"
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <span className="flex-1">{toast.title}</span>
      {toast.action && (
        <button
          type="button"
          className="btn"
          onClick={() => {
            closeToast(toast.id);
            toast.action?.run();
          }}
        >
          {toast.action.label}
        </button>
      )}
      <button
        type="button"
        className="btn btn-ghost btn-icon"
        aria-label="Dismiss"
        onClick={() => closeToast(toast.id)}
      >
        <X size={14} aria-hidden />
      </button>
    </div>
  );
}
