// The logo of a status page: shown, replaced, removed.
import { useId } from "react";
import { useLogo } from "../../api/status-pages";
import { showToast } from "../../model/toasts";
import type { StatusPage } from "../../model/types";
import { MutationButton, Problem } from "../../parts/MutationButton";
import { Section } from "../../parts/Page";

export function LogoField({ page }: { page: StatusPage }) {
  const id = useId();
  const logo = useLogo(page.id);
  return (
    <Section title="Logo">
      <div className="space-y-3">
        {page.hasLogo && page.isPublic && (
          <img
            src={`/api/status/${page.slug}/logo?v=${encodeURIComponent(page.updatedAt)}`}
            alt={`Logo of ${page.name}`}
            className="max-h-16 max-w-60"
          />
        )}
        <div>
          <label htmlFor={id} className="mb-1 block font-medium">
            {page.hasLogo ? "Replace it" : "Choose a file"}
          </label>
          <input
            id={id}
            type="file"
            accept="image/png,image/jpeg"
            className="max-w-full"
            disabled={logo.isPending}
            onChange={(event) => {
              const file = event.target.files?.[0];
              event.target.value = "";
              if (file) logo.mutate(file, { onSuccess: () => showToast("Logo saved") });
            }}
          />
          <p className="mt-1 text-dense text-ink2">PNG or JPEG, at most 1 MB.</p>
        </div>
        {page.hasLogo && (
          <MutationButton of={logo} onClick={() => logo.mutate(null, { onSuccess: () => showToast("Logo removed") })}>
            Remove the logo
          </MutationButton>
        )}
        <Problem of={logo} />
      </div>
    </Section>
  );
}
