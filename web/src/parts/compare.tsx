// Baseline of a page's comparison: `cmp` in the URL.
import { useSearch } from "@tanstack/react-router";
import { usePost } from "../api/hooks";
import { useRange } from "../api/range";
import type { RangeBody } from "../api/routes";
import { type Comparison, shiftOf } from "../model/compare";
import { isMarked } from "../model/deploys";
import { isoFromMs, parseMs } from "../model/time";
import { Select } from "../ui/Select";
import { usePatchSearch } from "./listSearch";

interface Compare {
  comparison: Comparison | undefined;
  /** Distance of the compared time, in milliseconds. */
  shiftMs: number;
  /** Fields for request bodies about the compared time. */
  before: RangeBody;
}

export function useCompare(): Compare {
  const { cmp } = useSearch({ strict: false }) as { cmp?: string };
  const { span } = useRange();
  const comparison = cmp === "previous" || cmp === "week" ? cmp : undefined;
  const shiftMs = shiftOf(comparison ?? "previous", span);
  const before = { fromDate: isoFromMs(span.fromMs - shiftMs), toDate: isoFromMs(span.toMs - shiftMs) };
  return { comparison, shiftMs, before };
}

/** Deploys offered as comparisons. */
const DEPLOYS_MAX = 8;

export function CompareSelect() {
  const { comparison } = useCompare();
  const { body, range } = useRange();
  const patch = usePatchSearch();
  const query = usePost("/api/deploys/list", body);
  const deploys = (query.data?.data ?? []).filter(isMarked).slice(0, DEPLOYS_MAX);
  const deployed = comparison === "previous" ? deploys.find((one) => one.time === range.from) : undefined;
  return (
    <Select
      label="Compare with"
      value={deployed ? deployed.time : (comparison ?? "")}
      options={[
        { value: "", label: "No comparison" },
        { value: "previous", label: "Previous period" },
        { value: "week", label: "Same time last week" },
        ...deploys.map((one) => ({
          value: one.time,
          label: `Before ${one.service} ${one.version}`.replace("  ", " "),
        })),
      ]}
      onChange={(value) => {
        const isDeploy = deploys.some((one) => one.time === value);
        // Before a version: from its deploy on, against as long before it.
        if (isDeploy) patch({ cmp: "previous", from: value, to: parseMs(value) < Date.now() ? undefined : value });
        else patch({ cmp: value || undefined });
      }}
    />
  );
}
