import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { endPreviousToken, rotateToken, type TokenKind, useCacheProject } from "../../api/account-project";
import type { ProjectExtra } from "../../api/account-types";
import { isHiddenToken } from "../../model/project-settings";
import { dateTime, parseMs } from "../../model/time";
import { showToast } from "../../model/toasts";
import { MutationButton, Problem, Submit } from "../../parts/MutationButton";
import { Token } from "../../parts/Token";
import { Dialog } from "../../ui/Dialog";
import { SelectField } from "../../ui/SelectField";

export function ProjectTokens({ project, manages }: { project: ProjectExtra; manages: boolean }) {
  const [rotating, setRotating] = useState<TokenKind | null>(null);
  const keep = useCacheProject();
  const make = useMutation({
    mutationFn: () => rotateToken(project.id, "upload", 0),
    onSuccess: (changed) => {
      keep(project.id, changed);
      showToast("Upload token made");
    },
  });
  if (isHiddenToken(project.token))
    return (
      <p className="text-ink2">Tokens are hidden from read-only members. Ask an owner or admin for another role.</p>
    );
  return (
    <div className="space-y-5">
      <div>
        <Token
          label="Project token"
          token={project.token}
          hint="Sent by your applications as Authorization: Bearer <token>. Anyone who has it can send data here."
        />
        <TokenRotation
          project={project}
          kind="runtime"
          until={project.previousTokenExpiresAt}
          manages={manages}
          onRotate={() => setRotating("runtime")}
        />
      </div>
      {project.sourceMapToken && !isHiddenToken(project.sourceMapToken) && (
        <div>
          <Token label="Upload token" token={project.sourceMapToken} hint="For source maps and debug symbols." />
          <TokenRotation
            project={project}
            kind="upload"
            until={project.previousSourceMapTokenExpiresAt}
            manages={manages}
            onRotate={() => setRotating("upload")}
          />
        </div>
      )}
      {!project.sourceMapToken && manages && (
        <div className="space-y-2">
          <div className="font-medium">Upload token</div>
          <p className="text-dense text-ink2">
            For source maps and debug symbols. It opens nothing else, so build machines need no project token.
          </p>
          <MutationButton of={make} onClick={() => make.mutate()}>
            Make an upload token
          </MutationButton>
          <Problem of={make} />
        </div>
      )}
      {rotating && <Rotate project={project} kind={rotating} close={() => setRotating(null)} />}
    </div>
  );
}

function TokenRotation({
  project,
  kind,
  until,
  manages,
  onRotate,
}: {
  project: ProjectExtra;
  kind: TokenKind;
  until: string | null | undefined;
  manages: boolean;
  onRotate: () => void;
}) {
  const ms = parseMs(until);
  const keep = useCacheProject();
  const end = useMutation({
    mutationFn: () => endPreviousToken(project.id, kind),
    onSuccess: (changed) => {
      keep(project.id, changed);
      showToast("The one before was ended");
    },
  });
  return (
    <div className="mt-2 flex flex-wrap items-center gap-x-3 gap-y-1 empty:hidden">
      {manages && (
        <button type="button" className="btn" onClick={onRotate}>
          Replace…
        </button>
      )}
      {ms > Date.now() && <span className="text-warn">The one before works until {dateTime(ms)}.</span>}
      {ms > Date.now() && manages && (
        <MutationButton of={end} onClick={() => end.mutate()}>
          End it now
        </MutationButton>
      )}
      <Problem of={end} />
    </div>
  );
}

const GRACE = [
  { value: "0", label: "At once" },
  { value: "1", label: "In an hour" },
  { value: "24", label: "In a day" },
  { value: "72", label: "In three days" },
  { value: "168", label: "In a week" },
];

function Rotate({ project, kind, close }: { project: ProjectExtra; kind: TokenKind; close: () => void }) {
  const [hours, setHours] = useState("24");
  const keep = useCacheProject();
  const rotate = useMutation({
    mutationFn: () => rotateToken(project.id, kind, Number(hours)),
    onSuccess: (changed) => {
      keep(project.id, changed);
      close();
      showToast(kind === "runtime" ? "There is a new project token" : "There is a new upload token");
    },
  });
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && close()}
      title={kind === "runtime" ? "Replace the project token?" : "Replace the upload token?"}
      description={
        kind === "runtime"
          ? "Applications need the new one. Until the old one ends, both work."
          : "Build machines need the new one. Until the old one ends, both work."
      }
    >
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          rotate.mutate();
        }}
      >
        <SelectField
          big
          label="The old one ends"
          value={hours}
          options={GRACE}
          onChange={setHours}
          hint={
            hours === "0" ? "Whatever still sends it is refused from then on. Right when it has leaked." : undefined
          }
        />
        <Problem of={rotate} />
        <div className="flex justify-end gap-2">
          <button type="button" className="btn" onClick={close}>
            Cancel
          </button>
          <Submit of={rotate} busy="Replacing…">
            Make a new token
          </Submit>
        </div>
      </form>
    </Dialog>
  );
}
