import { useChangeProject } from "../../api/account";
import type { ProjectChangeExtra } from "../../api/account-types";
import { say } from "../../ui/Toasts";

/** Changes the project and says so; refusals are told beside the form (`Problem`). */
export function useSave() {
  const change = useChangeProject();
  const save = (what: ProjectChangeExtra, words: string) => change.mutate(what, { onSuccess: () => say(words) });
  return { change, save };
}
