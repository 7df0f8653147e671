// The flame graph of a selection: whole, as a comparison, or as the callers and callees of one function.
import { X } from "lucide-react";
import { useCallback, useMemo, useState } from "react";
import { usePost } from "../../api/hooks";
import { callees, callers, type FlameTree, flameTree, matchedShare, shareChange } from "../../model/flame-tree";
import { count, percent, plural } from "../../model/format";
import { type Baseline, firstProfilesNote, packageSlots, profileValue } from "../../model/profiles";
import type { ProfileSearch } from "../../model/telemetry-search";
import type { FlameGraph, ProfileSelection } from "../../model/types";
import { usePatchSearch } from "../../parts/listSearch";
import { Empty, QueryView, SkeletonBox } from "../../parts/states";
import { CopyButton } from "../../ui/Copy";
import { Segmented } from "../../ui/Segmented";
import { FlameCanvas } from "../../viz/FlameCanvas";

export function Flame({
  selection,
  baseline,
  search,
}: {
  selection: ProfileSelection;
  baseline: Baseline | null;
  search: ProfileSearch;
}) {
  const query = usePost("/api/profiles/flamegraph", { ...selection, baseline, order: search.order ?? "heavy" });
  return (
    <QueryView query={query} skeleton={<SkeletonBox height={420} />}>
      {(graph) =>
        graph.profileCount || graph.baseline?.profileCount ? (
          <Graph graph={graph} search={search} />
        ) : (
          <Empty title="No profiles in this selection">Widen the time range, or remove a filter.</Empty>
        )
      }
    </QueryView>
  );
}

function Graph({ graph, search }: { graph: FlameGraph; search: ProfileSearch }) {
  const patch = usePatchSearch();
  const tree = useMemo(() => flameTree({ names: graph.names, ...graph.nodes }), [graph]);
  const q = search.q?.toLowerCase();
  const matches = useMemo(() => (q ? (name: string) => name.toLowerCase().includes(q) : undefined), [q]);
  const chosen = search.fn === undefined ? -1 : graph.names.indexOf(search.fn);
  const openOf = (of: FlameTree) => (node: number) => {
    if (node > 0 || chosen >= 0) patch({ fn: graph.names[of.name[node] ?? 0] });
  };
  const base = graph.nodes.baselineTotal;
  const change = useCallback(
    (node: number) =>
      base ? shareChange(tree.total[node] ?? 0, tree.total[0] ?? 0, base[node] ?? 0, base[0] ?? 0) : 0,
    [tree, base],
  );
  return (
    <div className="space-y-3 p-3">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 text-ink2">
        <span>
          <span className="font-semibold text-ink">{profileValue(graph.total, graph.unit)}</span>{" "}
          {graph.isGauge ? "in the latest of " : "in "}
          {plural(graph.profileCount, "profile")}, {plural(graph.sampleCount, "sample")}
        </span>
        {graph.baseline && (
          <span>
            compared with {profileValue(graph.baseline.total, graph.unit)} in{" "}
            {plural(graph.baseline.profileCount, "profile")}
          </span>
        )}
        {graph.firstProfiles.profiles > 0 && <span>{firstProfilesNote(graph.firstProfiles)}</span>}
        {matches && <span>{percent(matchedShare(tree, matches))} below matching functions</span>}
        {graph.hasTimestamps && !graph.baseline && (
          <Segmented
            label="Order"
            value={search.order ?? "heavy"}
            options={[
              { value: "heavy", label: "Heaviest first" },
              { value: "time", label: "In order of time" },
            ]}
            onChange={(order) => patch({ order: order === "time" ? order : undefined })}
          />
        )}
        {graph.baseline && <Legend />}
      </div>
      {search.fn !== undefined && (
        <div className="flex flex-wrap items-center gap-2">
          <h3 className="font-semibold">
            Callers and callees of <code className="font-mono text-dense [overflow-wrap:anywhere]">{search.fn}</code>
          </h3>
          <button type="button" className="btn" onClick={() => patch({ fn: undefined })}>
            <X size={14} aria-hidden /> Whole flame graph
          </button>
        </div>
      )}
      {search.fn === undefined ? (
        <Tree
          label="Flame graph"
          tree={tree}
          graph={graph}
          matches={matches}
          change={base ? change : undefined}
          onOpen={openOf(tree)}
        />
      ) : chosen < 0 ? (
        <Empty title="The function is not in this selection" />
      ) : (
        <Sandwich tree={tree} graph={graph} name={chosen} matches={matches} openOf={openOf} />
      )}
      <p className="text-ink2">
        {graph.truncatedNodes > 0 &&
          `${count(graph.truncatedNodes)} light functions are not drawn: "(truncated)" has their values. `}
        {graph.missingStacks > 0 &&
          `The stacks of ${plural(graph.missingStacks, "sample")} are not stored any more: "(unknown)". `}
        Click to zoom in, double-click for the callers and callees of a function.
      </p>
    </div>
  );
}

function Sandwich({
  tree,
  graph,
  name,
  matches,
  openOf,
}: {
  tree: FlameTree;
  graph: FlameGraph;
  name: number;
  matches?: (name: string) => boolean;
  openOf: (of: FlameTree) => (node: number) => void;
}) {
  const [above, below] = useMemo(() => [callers(tree, name), callees(tree, name)], [tree, name]);
  const common = { graph, matches, whole: tree.total[0] ?? 0 };
  return (
    <div className="space-y-4">
      <div>
        <h4 className="mb-1 text-ink2">Callers: the function is above, each row below called the one above it</h4>
        <Tree label="Callers" tree={above} {...common} onOpen={openOf(above)} />
      </div>
      <div>
        <h4 className="mb-1 text-ink2">Callees</h4>
        <Tree label="Callees" tree={below} {...common} onOpen={openOf(below)} />
      </div>
    </div>
  );
}

function Tree({
  label,
  tree,
  graph,
  whole = tree.total[0] ?? 0,
  matches,
  change,
  onOpen,
}: {
  label: string;
  tree: FlameTree;
  graph: FlameGraph;
  /** The total that shares are of. */
  whole?: number;
  matches?: (name: string) => boolean;
  change?: (node: number) => number;
  onOpen: (node: number) => void;
}) {
  const [current, setCurrent] = useState<number | null>(null);
  const slots = useMemo(() => slotsOf(graph), [graph]);
  const shown = current !== null && current < tree.name.length ? current : null;
  const value = (amount: number) => profileValue(amount, graph.unit);
  const describe = (node: number) => {
    const total = tree.total[node] ?? 0;
    const parts = [
      tree.names[tree.name[node] ?? 0] ?? "",
      `${value(total)} (${percent(whole > 0 ? total / whole : 0)})`,
      `own ${value(tree.self[node] ?? 0)}`,
    ];
    if (change) parts.push(points(change(node)));
    return parts.join(", ");
  };
  return (
    <div>
      <Details tree={tree} graph={graph} node={shown} describe={describe} />
      <FlameCanvas
        label={`${label} of ${value(tree.total[0] ?? 0)}`}
        tree={tree}
        slots={slots}
        matches={matches}
        change={change}
        describe={describe}
        onCurrent={setCurrent}
        onOpen={onOpen}
      />
    </div>
  );
}

/** Colour slot of each name, by the own value of its package. */
function slotsOf(graph: FlameGraph): number[] {
  const own = new Map<string, number>();
  graph.nodes.name.forEach((name, node) => {
    const at = graph.packages[name] ?? "";
    own.set(at, (own.get(at) ?? 0) + (graph.nodes.self[node] ?? 0));
  });
  const heaviest = [...own].sort((a, b) => b[1] - a[1]).map(([name]) => name);
  const slots = packageSlots(heaviest);
  return graph.packages.map((name) => slots.get(name) ?? -1);
}

/** One line about the function under the pointer, above the graph so that it covers nothing. */
function Details({
  tree,
  graph,
  node,
  describe,
}: {
  tree: FlameTree;
  graph: FlameGraph;
  node: number | null;
  describe: (node: number) => string;
}) {
  const at = node ?? 0;
  const name = tree.name[at] ?? 0;
  const place = [graph.packages[name], graph.files[name]].filter(Boolean).join(" · ");
  const stack = () => {
    const names: string[] = [];
    for (let up = at; up >= 0; up = tree.parent[up] as number) names.push(tree.names[tree.name[up] ?? 0] ?? "");
    return names.join("\n");
  };
  return (
    <div className="mb-2 flex h-11 items-start justify-between gap-2 overflow-hidden">
      <div className="min-w-0" aria-hidden>
        <div className="truncate font-mono text-dense">{describe(at)}</div>
        <div className="truncate text-caption text-ink2">{place || " "}</div>
      </div>
      <CopyButton text={stack()} label="Copy stack of the function" words="Copy stack" />
    </div>
  );
}

function points(change: number): string {
  const amount = Math.abs(change) * 100;
  if (amount < 0.05) return "no change of its share";
  return `${change > 0 ? "+" : "−"}${amount.toFixed(1)} points of its share`;
}

function Legend() {
  return (
    <span className="inline-flex flex-wrap items-center gap-x-3">
      {[
        ["var(--error)", "greater share than before"],
        ["var(--accent)", "smaller share"],
        ["var(--c-other)", "no change"],
      ].map(([colour, words]) => (
        <span key={words} className="inline-flex items-center gap-1.5">
          <span aria-hidden className="size-2 rounded-[2px]" style={{ background: colour }} /> {words}
        </span>
      ))}
    </span>
  );
}
