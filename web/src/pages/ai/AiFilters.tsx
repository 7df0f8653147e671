// The grouping, the kind of AI traces and their flags: controls above the lists.
import { ALL_FLAGS, FLAGS, GROUPINGS } from "../../model/ai";
import type { AiSearch } from "../../model/telemetry-search";
import { usePatchSearch } from "../../parts/listSearch";
import { Segmented } from "../../ui/Segmented";
import { Select } from "../../ui/Select";

export function AiFilters({ search }: { search: AiSearch }) {
  const patch = usePatchSearch();
  return (
    <>
      <Select
        label="Group by"
        show
        value={search.by ?? "name"}
        options={GROUPINGS.map(({ value, label }) => ({ value, label }))}
        onChange={(value) => patch({ by: value === "name" ? undefined : value, sort: undefined })}
      />
      <Segmented
        label="Which traces"
        value={search.calls ?? "model"}
        options={[
          { value: "model", label: "Model calls" },
          { value: "tool", label: "Tool runs" },
          { value: "all", label: "Both" },
        ]}
        onChange={(value) => patch({ calls: value === "model" ? undefined : value })}
      />
      <Select
        label="Flags"
        value={search.flag ?? ""}
        options={[
          { value: "", label: "Flagged or not" },
          { value: "any", label: "Any flag" },
          ...ALL_FLAGS.map((flag) => ({ value: flag, label: FLAGS[flag].word })),
        ]}
        onChange={(value) => patch({ flag: value || undefined })}
      />
    </>
  );
}
