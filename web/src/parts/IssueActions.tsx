// Changes of one or several issues: states, assignee.
import { Archive, ArchiveRestore, CheckCheck, CircleCheck } from "lucide-react";
import { useMayWrite } from "../api/account";
import { useAssign, useAssignees, useSetState } from "../api/issues";
import { MUTES, mute, STATE_WORDS, stateTip } from "../model/issue-state";
import type { IssueGroup, IssueState } from "../model/types";
import { Chip, type Tone } from "../ui/Chip";
import { Select } from "../ui/Select";

const TONES: Partial<Record<IssueState, Tone>> = { regressed: "error", resolved: "ok", resolved_in_next_version: "ok" };

/** The state of an issue; nothing for an open one. */
export function StateChip({ issue }: { issue: Pick<IssueGroup, "state" | "decision"> }) {
  if (issue.state === "open") return null;
  return (
    <Chip tone={TONES[issue.state]} tip={stateTip(issue)}>
      {STATE_WORDS[issue.state]}
    </Chip>
  );
}

/** Buttons that set the state of issues. `states`: their states now. `onDone` runs after each request is sent. */
export function StateActions({
  hashes,
  states,
  onDone,
}: {
  hashes: string[];
  states: IssueState[];
  onDone?: () => void;
}) {
  const change = useSetState();
  const mayChange = useMayWrite();
  const set = (state: IssueState, until = {}) => {
    change.mutate({ hashes, state, ...until });
    onDone?.();
  };
  const isOpen = (state: IssueState) => state === "open" || state === "regressed";
  const anyOpen = states.some(isOpen);
  if (!mayChange) return null;
  return (
    <>
      {anyOpen && (
        <>
          <button
            type="button"
            className="btn"
            onClick={() => set("resolved")}
            title="It is back when it happens again"
          >
            <CircleCheck size={14} aria-hidden /> Resolve
          </button>
          <button
            type="button"
            className="btn"
            onClick={() => set("resolved_in_next_version")}
            title="It is back when it happens in a version that was not seen before"
          >
            <CheckCheck size={14} aria-hidden /> Resolve in next version
          </button>
          <Select
            label="Mute"
            value=""
            options={[{ value: "", label: "Mute…" }, ...MUTES.map(({ value, label }) => ({ value, label }))]}
            onChange={(value) => value && set("muted", mute(value, Date.now()))}
          />
          <button type="button" className="btn" onClick={() => set("archived")} title="Hidden until it happens again">
            <Archive size={14} aria-hidden /> Archive
          </button>
        </>
      )}
      {states.some((state) => state !== "open") && (
        <button type="button" className="btn" onClick={() => set("open")}>
          <ArchiveRestore size={14} aria-hidden /> Reopen
        </button>
      )}
    </>
  );
}

/** Assigns issues to a member of the project's organization. `value`: id of the user, 0 for nobody, "" for a prompt. */
export function AssignSelect({ hashes, value, onDone }: { hashes: string[]; value: number | ""; onDone?: () => void }) {
  const assign = useAssign();
  const people = useAssignees();
  const mayChange = useMayWrite();
  if (!mayChange) {
    const name = people.find((one) => one.id === value)?.name;
    return name ? <span className="text-ink2">Assigned to {name}</span> : null;
  }
  const options = [
    { value: "0", label: "Nobody" },
    ...people.map(({ id, name }) => ({ value: String(id), label: name })),
  ];
  if (value === "") options.unshift({ value: "", label: "Assign…" });
  return (
    <Select
      label="Assignee"
      value={String(value)}
      options={options}
      onChange={(chosen) => {
        if (chosen === "") return;
        assign.mutate({ hashes, userId: Number(chosen) || null });
        onDone?.();
      }}
    />
  );
}
