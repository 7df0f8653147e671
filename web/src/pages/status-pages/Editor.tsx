// The settings of a status page beside what visitors will see.
import { useState } from "react";
import { usePreview, useSaveStatusPage } from "../../api/status-pages";
import { showToast } from "../../model/toasts";
import type { StatusCheckChoice, StatusPage, StatusPageRequest } from "../../model/types";
import { Problem, Submit } from "../../parts/MutationButton";
import { Section } from "../../parts/Page";
import { Field } from "../../ui/Field";
import { Switch } from "../../ui/Switch";
import { TextArea } from "../../ui/TextArea";
import { LogoField } from "./LogoField";
import { MaintenanceSection } from "./Maintenance";
import { Preview } from "./Preview";

const SLUG = /^[a-z0-9][a-z0-9-]{1,58}[a-z0-9]$/;

/** A slug of a name; may be too short. */
function slugOf(name: string): string {
  return name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "")
    .slice(0, 60)
    .replace(/-$/, "");
}

interface Chosen {
  id: number;
  group: string;
}

function request(
  name: string,
  slug: string,
  isPublic: boolean,
  description: string,
  domain: string,
  chosen: Chosen[],
): StatusPageRequest {
  const names = [...new Set(chosen.map((one) => one.group.trim()).filter(Boolean))];
  return {
    name: name.trim(),
    slug,
    isPublic,
    description: description.trim(),
    customDomain: domain.trim() || null,
    checkIds: chosen.map((one) => one.id),
    groups: names.map((group) => ({
      name: group,
      checkIds: chosen.filter((one) => one.group.trim() === group).map((one) => one.id),
    })),
  };
}

export function Editor({
  page,
  checks,
  close,
}: {
  page: StatusPage | undefined;
  checks: StatusCheckChoice[];
  close: () => void;
}) {
  const groupOf = (id: number) => page?.groups.find((group) => group.checkIds.includes(id))?.name ?? "";
  const [name, setName] = useState(page?.name ?? "");
  const [ownSlug, setSlug] = useState<string | null>(page?.slug ?? null);
  const [isPublic, setPublic] = useState(page?.isPublic ?? true);
  const [description, setDescription] = useState(page?.description ?? "");
  const [domain, setDomain] = useState(page?.customDomain ?? "");
  const [chosen, setChosen] = useState<Chosen[]>(page?.checkIds.map((id) => ({ id, group: groupOf(id) })) ?? []);
  const save = useSaveStatusPage(page?.id);
  const slug = ownSlug ?? slugOf(name);
  const body = request(name, slug, isPublic, description, domain, chosen);
  const isComplete = !!body.name && SLUG.test(slug) && chosen.length > 0;
  const preview = usePreview(isComplete ? body : null);
  return (
    <div className="grid items-start gap-4 px-4 pb-6 xl:grid-cols-2">
      <div className="min-w-0 space-y-4">
        <Section title={page ? `Settings of ${page.name}` : "New status page"}>
          <form
            className="space-y-4"
            onSubmit={(event) => {
              event.preventDefault();
              save.mutate(body, {
                onSuccess: () => {
                  showToast("Saved");
                  if (!page) close();
                },
              });
            }}
          >
            <Field label="Name" required maxLength={200} value={name} onText={setName} />
            <Field
              label="Address"
              required
              maxLength={60}
              spellCheck={false}
              value={slug}
              onText={setSlug}
              hint={`${location.origin}/status/${slug || "…"}`}
              error={
                slug && !SLUG.test(slug) ? "3 to 60 lower case letters, digits and dashes, no dash at its ends." : null
              }
            />
            <TextArea label="Description" rows={2} value={description} onText={setDescription} />
            <Checks checks={checks} chosen={chosen} onChange={setChosen} />
            <Field
              label="Custom domain"
              spellCheck={false}
              placeholder="status.example.com"
              value={domain}
              onText={setDomain}
              hint="Point its DNS record to this server. The page is then at its root."
            />
            <Switch label="Public" hint="Without it, visitors get 404." checked={isPublic} onChange={setPublic} />
            <Problem of={save} />
            <div className="flex gap-2">
              <Submit of={save} disabled={!isComplete}>
                Save
              </Submit>
              <button type="button" className="btn" onClick={close}>
                {page ? "Back to the list" : "Cancel"}
              </button>
            </div>
          </form>
        </Section>
        {page && <LogoField page={page} />}
        {page && <MaintenanceSection page={page} />}
      </div>
      <Section title="What visitors see">
        <Preview status={isComplete ? preview.data : undefined} error={preview.error} />
      </Section>
    </div>
  );
}

function Checks({
  checks,
  chosen,
  onChange,
}: {
  checks: StatusCheckChoice[];
  chosen: Chosen[];
  onChange: (chosen: Chosen[]) => void;
}) {
  const toggle = (id: number) =>
    onChange(
      chosen.some((one) => one.id === id) ? chosen.filter((one) => one.id !== id) : [...chosen, { id, group: "" }],
    );
  const setGroup = (id: number, group: string) => onChange(chosen.map((one) => (one.id === id ? { id, group } : one)));
  return (
    <fieldset className="space-y-1">
      <legend className="mb-1 font-medium">Monitors</legend>
      {checks.length === 0 && <p className="text-ink2">There is no monitor yet: create one first.</p>}
      {checks.map((check) => {
        const one = chosen.find(({ id }) => id === check.id);
        return (
          <div key={check.id} className="flex min-h-8 flex-wrap items-center gap-x-3 gap-y-1">
            <label className="flex min-w-0 flex-1 items-center gap-2">
              <input
                type="checkbox"
                checked={!!one}
                disabled={!one && chosen.length >= 50}
                onChange={() => toggle(check.id)}
              />
              <span className="min-w-0 [overflow-wrap:anywhere]">{check.name}</span>
              <span className="text-dense text-ink2">{check.checkType}</span>
            </label>
            {one && (
              <input
                className="input w-40!"
                aria-label={`Group of ${check.name}`}
                placeholder="Group"
                maxLength={100}
                value={one.group}
                onChange={(event) => setGroup(check.id, event.target.value)}
              />
            )}
          </div>
        );
      })}
    </fieldset>
  );
}
