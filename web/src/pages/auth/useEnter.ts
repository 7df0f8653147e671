import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { enterSession } from "../../api/account";
import { signOut } from "../../api/account-me";
import type { SignedIn } from "../../api/account-types";
import { safePath } from "../../model/safe-path";

/** Stores the new session and opens `next` if it is a path of this site. */
export function useEnter(): (answer: SignedIn, next?: string | null) => void {
  const client = useQueryClient();
  const router = useRouter();
  return (answer, next) => {
    enterSession(client, answer);
    router.history.push(safePath(next) ?? "/");
  };
}

export function useLeave(): () => void {
  const client = useQueryClient();
  return () => {
    // The page does not depend on the response: the session may have expired already.
    signOut().catch(() => {});
    client.clear();
  };
}
