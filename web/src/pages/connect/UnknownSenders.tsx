// Exports with a token of no project. Shown to owners, to diagnose telemetry that does not arrive.
import { useQuery } from "@tanstack/react-query";
import { request } from "../../api/client";
import { plural } from "../../model/format";
import type { Refusals } from "../../model/types";
import { Ago } from "../../parts/Ago";

const POLL_MS = 10_000;
const SHOWN = 20;

function useUnknownSenders() {
  return useQuery({
    queryKey: ["refusals"],
    refetchInterval: POLL_MS,
    queryFn: ({ signal }) => request<Refusals>("GET", "/api/refusals", { signal }),
  });
}

export function UnknownSenders() {
  const senders = useUnknownSenders().data?.data ?? [];
  if (!senders.length) return null;
  return (
    <section aria-label="Wrong tokens" className="panel overflow-hidden">
      <div className="px-4 py-3">
        <h2 className="font-medium">{plural(senders.length, "export")} with a wrong token</h2>
        <p className="text-ink2">Refused by this server and stored in no project. The last 1,000 since its start.</p>
      </div>
      <ul className="max-h-80 divide-y divide-line overflow-y-auto border-line border-t" tabIndex={0}>
        {senders.slice(0, SHOWN).map((one, place) => (
          <li key={`${one.time}${place}`} className="px-4 py-2">
            <p className="flex flex-wrap justify-between gap-x-3">
              <code className="font-mono text-dense">{one.path}</code>
              <span className="text-ink2">
                <Ago at={one.time} />
              </span>
            </p>
            <p className="[overflow-wrap:anywhere]">
              {one.message}
              {one.tokenStart && (
                <>
                  {" "}
                  (<code className="font-mono text-dense">{one.tokenStart}…</code>)
                </>
              )}
            </p>
            <p className="text-dense text-ink2 [overflow-wrap:anywhere]">
              {one.address} {one.userAgent}
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}
