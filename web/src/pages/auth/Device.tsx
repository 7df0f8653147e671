import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { MonitorSmartphone } from "lucide-react";
import { useState } from "react";
import { useBundle } from "../../api/account";
import { answerDevice, deviceQuery } from "../../api/account-grants";
import type { DeviceRequest } from "../../api/account-types";
import { ApiError } from "../../api/client";
import { requestedScope } from "../../model/scopes";
import { isUserCode, userCode } from "../../model/user-code";
import { Ago } from "../../parts/Ago";
import { MutationButton, Problem } from "../../parts/MutationButton";
import { allowance, type Choice, ScopeChoice } from "../../parts/ScopeChoice";
import { Field } from "../../ui/Field";
import { AuthFrame, DeadEnd, Note, PageLoading } from "./Frame";

/** Approves the code that a device or command line tool shows (RFC 8628). The user types the code even if the address
 * contains one, because a link may carry the code of another person's device (RFC 8628, 5.4). */
export function Device() {
  const [code, setCode] = useState("");
  if (!code) return <Enter onCode={setCode} />;
  return <Approval key={code} code={code} again={() => setCode("")} />;
}

function Enter({ onCode }: { onCode: (code: string) => void }) {
  const [code, setCode] = useState("");
  return (
    <AuthFrame title="Sign in a device" lead="Type the code that the device or the command line shows.">
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (isUserCode(code)) onCode(code);
        }}
      >
        <Field
          big
          label="Code"
          className="input input-big font-mono tracking-widest"
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          placeholder="XXXX-XXXX"
          maxLength={12}
          required
          value={code}
          onText={(text) => setCode(userCode(text))}
        />
        <button type="submit" className="btn btn-primary btn-big w-full" disabled={!isUserCode(code)}>
          Go on
        </button>
      </form>
    </AuthFrame>
  );
}

function Approval({ code, again }: { code: string; again: () => void }) {
  const query = useQuery({ ...deviceQuery(code), retry: false });
  const user = useBundle()?.user;
  const [answer, setAnswer] = useState<"approve" | "deny" | null>(null);
  const most = requestedScope(query.data?.scope);
  const [chosen, setChoice] = useState<Choice | null>(null);
  const choice = chosen ?? { scope: most, project: "" };
  const reply = useMutation({
    mutationFn: (which: "approve" | "deny") =>
      answerDevice(code, which, which === "approve" ? allowance(choice) : undefined),
    onSuccess: (_, which) => setAnswer(which),
  });
  const status = statusOf(query.error ?? reply.error);
  if (answer) return <Done approved={answer === "approve"} />;
  if (status === 404)
    return (
      <Again
        again={again}
        title="No such code"
        lead="Compare it with what the device shows. Codes are valid for ten minutes and work once."
      />
    );
  if (status === 410)
    return (
      <Again
        again={again}
        title="This code is over"
        lead="It was valid for ten minutes. Start the sign-in on the device again."
      />
    );
  if (query.isError)
    return (
      <AuthFrame title="Sign in a device">
        <div className="space-y-4">
          <Problem of={query} />
          <MutationButton
            of={{ isPending: query.isFetching, error: query.error }}
            className="btn btn-primary"
            onClick={() => query.refetch()}
          >
            Try again
          </MutationButton>
        </div>
      </AuthFrame>
    );
  if (!query.data) return <PageLoading words="Looking up the code…" />;
  if (query.data.status === "approved") return <Done approved />;
  if (query.data.status === "denied") return <Done approved={false} />;
  return (
    <AuthFrame title={`Let ${query.data.clientName} sign in?`}>
      <div className="space-y-4">
        <Request request={query.data} code={code} email={user?.email ?? ""} />
        <ScopeChoice big most={most} choice={choice} onChange={setChoice} />
        <Note>
          Approve only if you started this yourself, the device is at this address, and it shows exactly this code.
        </Note>
        <Problem of={reply} />
        <div className="flex gap-2">
          <MutationButton of={reply} className="btn btn-big flex-1" onClick={() => reply.mutate("deny")}>
            Deny
          </MutationButton>
          <MutationButton of={reply} className="btn btn-primary btn-big flex-1" onClick={() => reply.mutate("approve")}>
            Approve
          </MutationButton>
        </div>
      </div>
    </AuthFrame>
  );
}

const statusOf = (error: Error | null) => (error instanceof ApiError ? error.status : 0);

function Request({ request, code, email }: { request: DeviceRequest; code: string; email: string }) {
  return (
    <>
      <p className="rounded-control border border-line bg-panel py-3 text-center font-mono text-big tracking-widest">
        {code}
      </p>
      <p className="flex items-start gap-2 text-ink2">
        <MonitorSmartphone size={16} aria-hidden className="mt-0.5 shrink-0" />
        <span className="[overflow-wrap:anywhere]">
          <strong className="text-ink">{request.clientName}</strong> asked <Ago at={request.requestedAt} /> from{" "}
          <strong className="text-ink">{request.address}</strong> to act as{" "}
          <strong className="text-ink">{email}</strong>, until you sign it out on your account page.
        </span>
      </p>
    </>
  );
}

function Done({ approved }: { approved: boolean }) {
  return (
    <DeadEnd
      title={approved ? "The device is signed in" : "The device was refused"}
      lead={
        <p role="status">
          {approved
            ? "You can close this page and go on there. Your account page lists it and can sign it out."
            : "It gets no access. You can close this page."}
        </p>
      }
    >
      <Link to="/account" search={{ tab: "apps" }} className="btn">
        Signed-in applications
      </Link>
    </DeadEnd>
  );
}

function Again({ title, lead, again }: { title: string; lead: string; again: () => void }) {
  return (
    <DeadEnd title={title} lead={lead}>
      <button type="button" className="btn btn-primary" onClick={again}>
        Type a code
      </button>
    </DeadEnd>
  );
}
