// Links from a span to the profiles of its service at that moment, and to its own samples where profilers sent its id.
import { Link } from "@tanstack/react-router";
import { usePost, useProjectId } from "../../api/hooks";
import { plural } from "../../model/format";
import { profileTitle } from "../../model/profiles";
import { isoFromMs, parseMs } from "../../model/time";
import type { Span } from "../../model/types";

const LINKS_MAX = 4;

export function ProfileLinks({ span }: { span: Span }) {
  const pid = useProjectId();
  const from = parseMs(span.startTime);
  const { data } = usePost(
    "/api/profiles/links",
    {
      serviceName: span.serviceName,
      from: isoFromMs(Math.floor(from)),
      to: isoFromMs(Math.ceil(from + span.duration / 1e6)),
      traceId: span.traceId,
      spanId: span.spanId,
    },
    { enabled: !!span.serviceName, keep: false },
  );
  if (!data?.types.length) return null;
  return (
    <section>
      <h3 className="mb-1.5 font-semibold">Profiles at this time</h3>
      <ul className="space-y-1">
        {data.types.slice(0, LINKS_MAX).map((type) => (
          <li key={type.type}>
            <Link
              to="/p/$pid/profiles/$service"
              params={{ pid, service: type.serviceName }}
              search={
                {
                  type: type.type,
                  from: data.from,
                  to: data.to,
                  ...(type.bySpan ? { trace: span.traceId, span: span.spanId } : {}),
                } as never
              }
              className="link"
            >
              {profileTitle(type)}
            </Link>{" "}
            <span className="text-ink2">
              {type.bySpan ? "of this span" : `of ${type.serviceName}, ${plural(type.profileCount, "profile")}`}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
