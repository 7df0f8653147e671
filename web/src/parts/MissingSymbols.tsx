// Symbols that traces need and that are not uploaded, each with its id and the upload command.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useProject } from "../api/account";
import { useProjectId } from "../api/hooks";
import { plural } from "../model/format";
import { publicAddress } from "../model/public-address";
import { imageNames, osOf, type RawForm } from "../model/raw-stack";
import { appleUuid, type Command, commandsFor } from "../model/symbol-commands";
import { missingKey, missingWords } from "../model/symbols";
import type { MissingSymbols, WaitingForSymbols } from "../model/types";
import { CopyButton } from "../ui/Copy";
import { Ago } from "./Ago";
import { CommandBlock } from "./Command";

/** Number of items listed initially. */
const FIRST = 10;

interface Props {
  missing: (MissingSymbols | WaitingForSymbols)[];
  /** The trace that needs the symbols, if it is known. */
  text?: string;
  form?: RawForm;
}

export function MissingList({ missing, text = "", form }: Props) {
  const [all, setAll] = useState(false);
  const project = useProject();
  const images = imageNames(text);
  const shared = {
    address: publicAddress(project?.backendUrl ?? "", location.origin),
    framework: project?.framework,
    form,
    os: osOf(text),
  };
  const shown = all ? missing : missing.slice(0, FIRST);
  return (
    <>
      <ul aria-label="Missing symbols" className="divide-y divide-line rounded-control border border-line bg-bg">
        {shown.map((one) => {
          const image = images.get(one.debugId);
          return (
            <Item
              key={missingKey(one)}
              one={one}
              words={missingWords(one, image)}
              commands={commandsFor(one, { ...shared, image })}
              isApple={form === "ios"}
              open={missing.length === 1}
            />
          );
        })}
      </ul>
      {shown.length < missing.length && (
        <button type="button" className="btn mt-2" onClick={() => setAll(true)}>
          Show all {missing.length}
        </button>
      )}
    </>
  );
}

interface ItemProps {
  one: MissingSymbols | WaitingForSymbols;
  words: string;
  commands: Command[];
  isApple: boolean;
  open: boolean;
}

function Item({ one, words, commands, isApple, open }: ItemProps) {
  const id = isApple ? appleUuid(one.debugId) : one.debugId;
  return (
    <li className="px-3 py-2">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-0.5">
        <span className="font-medium [overflow-wrap:anywhere]">{words}</span>
        {id && (
          <span className="flex min-w-0 items-center gap-0.5 text-ink2">
            <code className="font-mono text-dense [overflow-wrap:anywhere]">{id}</code>
            <CopyButton text={id} label="Copy the debug id" />
          </span>
        )}
        {"traces" in one && (
          <span className="text-dense text-ink2 sm:ml-auto">
            {plural(one.traces, "trace")} since <Ago at={one.firstSeen} />, last <Ago at={one.lastSeen} />
          </span>
        )}
      </div>
      <details open={open} className="mt-1">
        <summary className="w-fit text-dense text-ink2 hover:text-ink">How to upload it</summary>
        <div className="mt-1.5 space-y-2">
          {commands.map((command) => (
            <CommandBlock key={command.label} label={command.label} code={command.code} />
          ))}
          {isApple && (
            <p className="text-dense text-ink2">
              On the Mac that archived the build, this finds the dSYM:{" "}
              <code className="font-mono [overflow-wrap:anywhere]">
                mdfind "com_apple_xcode_dsym_uuids == {appleUuid(one.debugId)}"
              </code>
            </p>
          )}
        </div>
      </details>
    </li>
  );
}

/** Explains `$UPLOAD_TOKEN` in the commands. */
export function TokenNote() {
  const pid = useProjectId();
  return (
    <p className="text-dense text-ink2">
      <code className="font-mono">UPLOAD_TOKEN</code> is the project’s upload token, from{" "}
      <Link to="/p/$pid/settings" params={{ pid }} className="link">
        its settings
      </Link>
      .
    </p>
  );
}
