import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { type AckLink, acknowledge, ackQuery } from "../../api/account-ack";
import { ApiError } from "../../api/client";
import { targetWords } from "../../model/audit";
import { Ago } from "../../parts/Ago";
import { MutationButton, Problem } from "../../parts/MutationButton";
import { AuthFrame, DeadEnd, Waiting } from "./Frame";

const route = getRouteApi("/ack");

/** A link in an alert. Opening it changes nothing, so that programs that look into mail do not acknowledge. */
export function Ack() {
  const { linkToken: token } = route.useRouteContext();
  const asked = useQuery(ackQuery(token));
  const say = useMutation({ mutationFn: () => acknowledge(token) });
  const status = statusOf(say.error ?? asked.error);
  if (status === 404)
    return (
      <Over
        title="This link is not known"
        lead="The alert may have been resolved since: its links are over then. Or the address is not complete."
      />
    );
  if (status === 410) return <Over title="This link has expired" lead="Look at the alert itself instead." />;
  if (say.data) return <Done link={say.data} lead="Nobody else is woken about it." />;
  if (asked.data?.status === "acknowledged") return <Done link={asked.data} lead="The link was used already." />;
  if (asked.isError)
    return (
      <AuthFrame title="Acknowledge an alert">
        <div className="space-y-4">
          <Problem of={asked} />
          <MutationButton of={asked} className="btn btn-primary" onClick={() => asked.refetch()}>
            Try again
          </MutationButton>
        </div>
      </AuthFrame>
    );
  if (!asked.data) return <Waiting words="Looking up the alert…" />;
  return (
    <AuthFrame title="Acknowledge this alert?" lead={<Subject link={asked.data} />}>
      <div className="space-y-4">
        <p className="text-ink2">It says that you look into it. Nobody else is woken, and the alert stays open.</p>
        <Problem of={say} />
        <MutationButton
          of={say}
          busy="Acknowledging…"
          className="btn btn-primary btn-big w-full"
          onClick={() => say.mutate()}
        >
          Acknowledge
        </MutationButton>
      </div>
    </AuthFrame>
  );
}

const statusOf = (error: Error | null) => (error instanceof ApiError ? error.status : 0);

function Subject({ link }: { link: AckLink }) {
  return <strong className="text-ink">{targetWords(link.subject)}</strong>;
}

function Done({ link, lead }: { link: AckLink; lead: string }) {
  return (
    <DeadEnd
      title="Acknowledged"
      lead={
        <p role="status">
          <Subject link={link} />
          {link.acknowledgedAt && (
            <>
              , <Ago at={link.acknowledgedAt} />
            </>
          )}
          . {lead}
        </p>
      }
    >
      <Home />
    </DeadEnd>
  );
}

function Over({ title, lead }: { title: string; lead: string }) {
  return (
    <DeadEnd title={title} lead={lead}>
      <Home />
    </DeadEnd>
  );
}

function Home() {
  return (
    <Link to="/" className="btn">
      Open Tidewatch
    </Link>
  );
}
