// The languages in groups, and the steps of the chosen language.
import { type ReactNode, useState } from "react";
import { GROUPS, type Protocol, type Snippet } from "../../model/snippets";
import { RevealButton, SecretCode } from "../../parts/Secret";
import { CopyButton } from "../../ui/Copy";
import { SearchLink } from "../../ui/SearchLink";

export function LanguagePicker({ all, chosen }: { all: Snippet[]; chosen: Snippet }) {
  return (
    <nav aria-label="Language" className="mb-3 space-y-2">
      {GROUPS.map((group) => (
        <div key={group} className="sm:flex sm:items-baseline sm:gap-3">
          <h2 className="mb-1 shrink-0 text-ink2 text-dense sm:w-32">{group}</h2>
          <ul aria-label={group} className="flex flex-wrap gap-1">
            {all
              .filter((one) => one.group === group)
              .map((one) => (
                <li key={one.key}>
                  <SearchLink
                    change={{ lang: one.key === all[0].key ? undefined : one.key }}
                    current={one === chosen}
                    className="btn aria-[current=page]:border-accent aria-[current=page]:bg-accentsoft aria-[current=page]:text-accent"
                  >
                    {one.label}
                  </SearchLink>
                </li>
              ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

const PROTOCOLS: [Protocol, string][] = [
  ["http", "OTLP/HTTP"],
  ["grpc", "OTLP/gRPC"],
];

/** For snippets that offer both protocols. */
export function ProtocolPicker({ chosen }: { chosen: Protocol }) {
  return (
    <nav aria-label="Protocol" className="mb-3 sm:flex sm:items-baseline sm:gap-3">
      <h2 className="mb-1 shrink-0 text-ink2 text-dense sm:w-32">Protocol</h2>
      <ul aria-label="Protocol" className="flex flex-wrap gap-1">
        {PROTOCOLS.map(([protocol, label]) => (
          <li key={protocol}>
            <SearchLink
              change={{ protocol: protocol === "http" ? undefined : protocol }}
              current={protocol === chosen}
              className="btn aria-[current=page]:border-accent aria-[current=page]:bg-accentsoft aria-[current=page]:text-accent"
            >
              {label}
            </SearchLink>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** `secret` is the token in the code. It is masked until the user reveals it. */
export function SnippetSteps({ snippet, secret }: { snippet: Snippet; secret?: string }) {
  const { steps, signals, check, note } = snippet;
  const numbered = steps.length > 1;
  return (
    <div className="panel divide-y divide-line">
      {steps.map((step, i) => (
        <Code
          key={step.title}
          title={numbered ? `${i + 1}. ${step.title}` : step.title}
          code={step.code}
          secret={secret}
        />
      ))}
      {check && (
        <Code title={`${steps.length + 1}. Send a request, in a second terminal`} code={check.request}>
          Endpoints then shows <code className="font-mono text-dense">{check.endpoint}</code> of{" "}
          <code className="font-mono text-dense">{check.service}</code>, within a minute or when the app ends.
        </Code>
      )}
      <p className="px-4 py-2.5 text-ink2">
        Sends {listed(signals)}. {note}
      </p>
    </div>
  );
}

const listed = (words: string[]) =>
  words.length < 2 ? words.join() : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;

interface CodeProps {
  title: string;
  code: string;
  secret?: string;
  children?: ReactNode;
}

function Code({ title, code, secret, children }: CodeProps) {
  const [shown, setShown] = useState(false);
  const holdsSecret = secret && code.includes(secret);
  return (
    <section className="px-4 py-3">
      <div className="mb-1.5 flex items-center gap-1">
        <h2 className="min-w-0 flex-1 font-semibold [overflow-wrap:anywhere]">{title}</h2>
        {holdsSecret && <RevealButton shown={shown} onToggle={() => setShown(!shown)} what={`the token: ${title}`} />}
        <CopyButton text={code} label={`Copy: ${title}`} words="Copy" />
      </div>
      <SecretCode
        code={code}
        secret={secret}
        shown={shown}
        className="overflow-x-auto rounded-control bg-panel p-3 font-mono text-dense"
      />
      {children && <p className="mt-1.5 text-ink2">{children}</p>}
    </section>
  );
}
