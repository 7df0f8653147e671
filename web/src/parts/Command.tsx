import { CopyButton } from "../ui/Copy";

/** A shell command, to be read and copied. */
export function CommandBlock({ label, code, bare }: { label: string; code: string; bare?: boolean }) {
  return (
    <div className="relative rounded-control border border-line bg-panel">
      {!bare && <div className="px-2.5 pt-1.5 pr-20 text-caption text-ink2">{label}</div>}
      <pre className="overflow-x-auto p-2.5 pr-20 font-mono text-dense" tabIndex={0}>
        {code}
      </pre>
      <div className="absolute top-1 right-1 rounded-control bg-panel">
        <CopyButton text={code} label={`Copy the command: ${label}`} words="Copy" />
      </div>
    </div>
  );
}
