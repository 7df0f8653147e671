import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { ShieldQuestion } from "lucide-react";
import { useState } from "react";
import { useBundle } from "../../api/account";
import { answerConsent, clientQuery } from "../../api/account-grants";
import { ApiError } from "../../api/client";
import { type ConsentSearch, consentProblem, redirectHost } from "../../model/consent";
import { sentence } from "../../model/problem";
import { consentTarget } from "../../model/safe-path";
import { requestedScope } from "../../model/scopes";
import { MutationButton, Problem } from "../../parts/MutationButton";
import { allowance, type Choice, ScopeChoice } from "../../parts/ScopeChoice";
import { ErrorState } from "../../parts/states";
import { AuthFrame, DeadEnd, Note, PageLoading } from "./Frame";

const route = getRouteApi("/signed-in/oauth/authorize");

/** Consent page of an OAuth application. Nothing is sent to the application before the user decides. */
export function Consent() {
  const search = route.useSearch();
  const problem = consentProblem(search);
  const query = useQuery({ ...clientQuery(search), enabled: !problem, retry: false });
  const refused = query.error instanceof ApiError && [400, 404].includes(query.error.status);
  if (problem || refused)
    return (
      <DeadEnd
        title="This request cannot be allowed"
        lead={
          <>
            <p>{problem ?? sentence(query.error?.message ?? "")}</p>
            <p className="mt-2">
              Nothing was sent to the application. Start again there; if it stays, tell its makers.
            </p>
          </>
        }
      >
        <Link to="/" className="btn">
          To Tidewatch
        </Link>
      </DeadEnd>
    );
  if (query.isError)
    return (
      <AuthFrame title="Allow an application?">
        <div className="-m-4">
          <ErrorState error={query.error} retry={() => query.refetch()} />
        </div>
      </AuthFrame>
    );
  if (!query.data) return <PageLoading words="Looking up the application…" />;
  return <ConsentForm search={search} name={query.data.clientName || query.data.clientId} />;
}

function ConsentForm({ search, name }: { search: ConsentSearch; name: string }) {
  const user = useBundle()?.user;
  const most = requestedScope(search.scope);
  const [choice, setChoice] = useState<Choice>({ scope: most, project: "" });
  const host = redirectHost(search.redirect_uri ?? "");
  const reply = useMutation({
    mutationFn: async (which: "approve" | "deny") => {
      const { redirectTo } = await answerConsent(search, which, allowance(choice));
      const target = consentTarget(redirectTo, search.redirect_uri ?? "");
      if (!target)
        throw new Error("The server named another address to go back to than the application did; not followed.");
      return target;
    },
    onSuccess: (target) => location.assign(target),
  });
  return (
    <AuthFrame title={`Allow ${host}?`}>
      <div className="space-y-4">
        <div className="flex items-start gap-2 text-ink2">
          <ShieldQuestion size={16} aria-hidden className="mt-0.5 shrink-0" />
          <div className="space-y-2 [overflow-wrap:anywhere]">
            <p>
              An application at <strong className="text-ink">{host}</strong>, which calls itself {name}, asks to act as{" "}
              <strong className="text-ink">{user?.email}</strong>, until you sign it out on your account page.
            </p>
            <p>The answer goes there.</p>
          </div>
        </div>
        <ScopeChoice big most={most} choice={choice} onChange={setChoice} />
        <Note>The application chose its name itself. Allow it only if you started this and know the address.</Note>
        <Problem of={reply} />
        <div className="flex gap-2">
          <MutationButton of={reply} className="btn btn-big flex-1" onClick={() => reply.mutate("deny")}>
            Deny
          </MutationButton>
          <MutationButton of={reply} className="btn btn-primary btn-big flex-1" onClick={() => reply.mutate("approve")}>
            Allow
          </MutationButton>
        </div>
        {reply.isSuccess && (
          <p role="status" className="text-ink2">
            Going back to the application. When nothing happens, return to it yourself: this page has done its part.
          </p>
        )}
      </div>
    </AuthFrame>
  );
}
