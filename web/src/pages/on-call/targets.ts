// Words of escalation policies: targets and urgencies.
import { useChannels } from "../../api/channels";
import { type StepTarget, useMembers, useSchedules, useTeams } from "../../api/oncall";

/** Which chain of the people runs. */
export const URGENCIES = [
  { value: "auto", label: "High for critical alerts" },
  { value: "high", label: "Always high" },
  { value: "low", label: "Always low" },
] as const;

export interface TargetOption {
  value: string;
  label: string;
}

/** All targets that a step can have, as options: of the channels, those of the project that do not open pages. */
export function useTargetNames(): TargetOption[] {
  const schedules = useSchedules().data?.schedules ?? [];
  const teams = useTeams().data?.teams ?? [];
  const members = useMembers().data ?? [];
  const channels = useChannels().data?.channels ?? [];
  return [
    ...schedules.map((one) => ({ value: `schedule:${one.id}`, label: `Schedule ${one.name}` })),
    ...teams.map((one) => ({ value: `team:${one.id}`, label: `Everybody in ${one.name}` })),
    ...members.map((one) => ({ value: `user:${one.userId}`, label: one.name || one.email })),
    ...channels
      .filter((one) => one.channelType !== "escalation")
      .map((one) => ({ value: `channel:${one.id}`, label: `Channel ${one.name}` })),
  ];
}

export const targetValue = (target: StepTarget) => `${target.type}:${target.id}`;

export function targetOf(value: string): StepTarget {
  const [type, id] = value.split(":");
  return { type: type as StepTarget["type"], id: Number(id) };
}

export function targetName(names: TargetOption[], target: StepTarget): string {
  const known = names.find((one) => one.value === targetValue(target))?.label;
  return known ?? (target.type === "channel" ? "Channel of another project" : `${target.type} ${target.id}`);
}
