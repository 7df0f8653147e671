// The queue of toasts: at most three, the newest last. `ui/Toasts` draws it.

export interface Toast {
  id: number;
  title: string;
  action?: { label: string; run: () => void };
}
let list: Toast[] = [];
let last = 0;
const listeners = new Set<() => void>();

function put(next: Toast[]): void {
  list = next;
  for (const listener of listeners) listener();
}

/** Toasts on the screen. The array is replaced on every change. */
export function currentToasts(): Toast[] {
  return list;
}

export function closeToast(id: number): void {
  put(list.filter((toast) => toast.id !== id));
}

export function showToast(title: string, action?: Toast["action"]): void {
  last += 1;
  put([...list.slice(-2), { id: last, title, action }]);
}

/** Calls `listener` after every change, until the returned function is called. */
export function onToastsChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
