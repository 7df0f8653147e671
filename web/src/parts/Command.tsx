import { CopyButton } from "../ui/Copy";

/** A shell command, to be read and copied. */
export function CommandBlock({ label, code }: { label: string; code: string }) {
  return (
    <div className="rounded-control border border-line bg-panel">
      <div className="flex items-center justify-between gap-2 pt-1 pr-1 pl-2.5 text-dense text-ink2">
        {label}
        <CopyButton text={code} label={`Copy the command: ${label}`} words="Copy" />
      </div>
      <pre className="overflow-x-auto px-2.5 pb-2.5 font-mono text-dense" tabIndex={0}>
        {code}
      </pre>
    </div>
  );
}
