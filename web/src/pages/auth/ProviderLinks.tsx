import { LogIn } from "lucide-react";
import type { Providers } from "../../api/account-types";
import { rememberStart } from "../../api/session";
import { safePath } from "../../model/safe-path";

/** One link per provider. The provider redirects the browser back to /auth/callback. */
export function ProviderLinks({ providers, next }: { providers: Providers["providers"]; next?: string }) {
  const path = safePath(next) ?? "/";
  return (
    <ul className="space-y-2">
      {providers.map((provider) => (
        <li key={provider.id}>
          <a
            href={`/api/auth/start/${encodeURIComponent(provider.id)}?redirect=${encodeURIComponent(path)}`}
            className="btn btn-big w-full"
            onClick={() => rememberStart(path)}
          >
            <LogIn size={15} aria-hidden className="text-ink2" /> Continue with {provider.name}
          </a>
        </li>
      ))}
    </ul>
  );
}
