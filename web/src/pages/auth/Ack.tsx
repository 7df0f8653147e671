import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { type AckLink, acknowledge, ackQuery, type PageFacts } from "../../api/account-ack";
import { ApiError } from "../../api/client";
import { targetWords } from "../../model/audit";
import { Ago } from "../../parts/Ago";
import { MutationButton, Problem } from "../../parts/MutationButton";
import { AuthFrame, DeadEnd, PageLoading } from "./Frame";

const route = getRouteApi("/ack");

/** The page of a link in an alert. Opening it does not acknowledge, because mail scanners open links. */
export function Ack() {
  const { linkToken } = route.useRouteContext();
  // Another link in the same tab is another page.
  return <Acknowledgement key={linkToken} token={linkToken} />;
}

function Acknowledgement({ token }: { token: string }) {
  const query = useQuery(ackQuery(token));
  const acknowledgement = useMutation({ mutationFn: () => acknowledge(token) });
  const status = statusOf(acknowledgement.error ?? query.error);
  if (status === 404)
    return (
      <LinkEnded
        title="This link is not known"
        lead="The alert may have been resolved since: its links are over then. Or the address is not complete."
      />
    );
  if (status === 410) return <LinkEnded title="This link has expired" lead="Look at the alert itself instead." />;
  if (acknowledgement.data) return <Done link={acknowledgement.data} lead="Nobody else is woken about it." />;
  if (query.data?.status === "acknowledged") return <Done link={query.data} lead="The link was used already." />;
  if (query.isError)
    return (
      <AuthFrame title="Acknowledge an alert">
        <div className="space-y-4">
          <Problem of={query} />
          <MutationButton of={query} className="btn btn-primary" onClick={() => query.refetch()}>
            Try again
          </MutationButton>
        </div>
      </AuthFrame>
    );
  if (!query.data) return <PageLoading words="Looking up the alert…" />;
  return (
    <AuthFrame title="Acknowledge this alert?" lead={<Subject link={query.data} />}>
      <div className="space-y-4">
        <About link={query.data} />
        <p className="text-ink2">It says that you look into it. Nobody else is woken, and the alert stays open.</p>
        <Problem of={acknowledgement} />
        <MutationButton
          of={acknowledgement}
          busy="Acknowledging…"
          className="btn btn-primary btn-big w-full"
          onClick={() => acknowledgement.mutate()}
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

/** More about a page. Alerts of other kinds have a subject only. */
function About({ link }: { link: AckLink & Partial<PageFacts> }) {
  if (!link.createdAt) return null;
  return (
    <div className="space-y-2">
      {link.body && <p className="whitespace-pre-line [overflow-wrap:anywhere]">{link.body}</p>}
      <p className="text-ink2 [overflow-wrap:anywhere]">
        {[link.projectName, link.ruleName, link.severity].filter(Boolean).join(" · ")}, opened{" "}
        <Ago at={link.createdAt} />
        {(link.eventCount ?? 1) > 1 && <>, fired {link.eventCount} times</>}.
      </p>
    </div>
  );
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

function LinkEnded({ title, lead }: { title: string; lead: string }) {
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
