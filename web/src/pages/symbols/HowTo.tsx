import { getRouteApi } from "@tanstack/react-router";
import type { ProjectExtra } from "../../api/account-types";
import { publicAddress } from "../../model/public-address";
import { platformOf, uploadGuides } from "../../model/symbol-commands";
import { CommandBlock } from "../../parts/Command";
import { TokenNote } from "../../parts/MissingSymbols";
import { Section } from "../../parts/Page";
import { SearchLink } from "../../ui/SearchLink";

const route = getRouteApi("/p/$pid/settings/symbols");

/** The upload command of each platform. */
export function HowTo({ project }: { project: ProjectExtra }) {
  const { how = platformOf(project.framework) } = route.useSearch();
  const all = uploadGuides(publicAddress(project.backendUrl, location.origin));
  const chosen = all.find((one) => one.key === how) ?? all[0];
  return (
    <Section title="How to upload">
      <nav aria-label="Platform" className="mb-3 flex flex-wrap gap-1">
        {all.map((one) => (
          <SearchLink
            key={one.key}
            change={{ how: one.key }}
            replace
            current={one === chosen}
            className="btn aria-[current=page]:border-accent aria-[current=page]:bg-accentsoft aria-[current=page]:text-accent"
          >
            {one.label}
          </SearchLink>
        ))}
      </nav>
      <div className="space-y-2">
        <p className="max-w-prose">{chosen.words}</p>
        <CommandBlock label={`With curl: ${chosen.label}`} code={chosen.code} />
        <CommandBlock label="With the server’s own binary, in CI too" code={chosen.cli} />
        <TokenNote />
      </div>
    </Section>
  );
}
