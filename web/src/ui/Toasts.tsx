// Short messages at the bottom, with an optional action such as Undo. Announced politely.
import { Toast } from "@base-ui/react/toast";
import { X } from "lucide-react";

export const toasts = Toast.createToastManager();

export function say(title: string, action?: { label: string; run: () => void }): void {
  const id = toasts.add({
    title,
    timeout: action ? 8000 : 4000,
    actionProps: action && {
      children: action.label,
      onClick: () => {
        toasts.close(id);
        action.run();
      },
    },
  });
}

export function ToastArea() {
  return (
    <Toast.Provider toastManager={toasts}>
      <Toast.Portal>
        <Toast.Viewport className="fixed right-4 bottom-4 z-50 flex w-[min(360px,calc(100vw-32px))] flex-col gap-2">
          <ToastList />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function ToastList() {
  const { toasts: list } = Toast.useToastManager();
  return list.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className="menu appear">
      <Toast.Content className="flex items-center gap-2 py-1 pr-1 pl-2">
        <Toast.Title className="flex-1" />
        {toast.actionProps && <Toast.Action className="btn" />}
        <Toast.Close className="btn btn-ghost btn-icon" aria-label="Dismiss">
          <X size={14} aria-hidden />
        </Toast.Close>
      </Toast.Content>
    </Toast.Root>
  ));
}
