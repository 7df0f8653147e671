import { useChangeProject } from "../../api/account";
import type { ProjectChangeExtra } from "../../api/account-types";
import { showToast } from "../../model/toasts";

/** Changes the project and shows a toast. The form shows errors (`Problem`). */
export function useSave() {
  const change = useChangeProject();
  const save = (what: ProjectChangeExtra, words: string) => change.mutate(what, { onSuccess: () => showToast(words) });
  return { change, save };
}
