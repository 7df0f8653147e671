// The status pages that show an incident.
import { useStatusPages } from "../../api/status-pages";

export function PageChoice({
  chosen,
  disabled,
  onChange,
}: {
  chosen: number[];
  disabled?: boolean;
  onChange: (pages: number[]) => void;
}) {
  const pages = useStatusPages().data?.statusPages ?? [];
  if (!pages.length) return null;
  const toggle = (id: number) => onChange(chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id]);
  return (
    <fieldset className="space-y-1" disabled={disabled}>
      <legend className="mb-1 font-medium">Shown on</legend>
      {pages.map((page) => (
        <label key={page.id} className="flex min-h-6 items-center gap-2">
          <input type="checkbox" checked={chosen.includes(page.id)} onChange={() => toggle(page.id)} />
          <span className="[overflow-wrap:anywhere]">{page.name}</span>
          {!page.isPublic && <span className="text-ink2">(private)</span>}
        </label>
      ))}
    </fieldset>
  );
}
