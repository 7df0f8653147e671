import type { ProjectExtra } from "../../api/account-types";
import { Problem } from "../../parts/MutationButton";
import { Switch } from "../../ui/Switch";
import { useSave } from "./useSave";

export function DataCapture({ project, readonly }: { project: ProjectExtra; readonly: boolean }) {
  const { change, save } = useSave();
  const disabled = readonly || change.isPending;
  return (
    <div className="space-y-5">
      <Switch
        label="Keep unmatched root spans"
        hint="Root spans that are no request, task or AI call are dropped and counted. Turn on to keep them as plain spans."
        checked={project.settings.keepUnmatchedRoots}
        disabled={disabled}
        onChange={(keepUnmatchedRoots) =>
          save(
            { keepUnmatchedRoots },
            keepUnmatchedRoots ? "Unmatched roots are kept from now on" : "Unmatched roots are dropped from now on",
          )
        }
      />
      <Switch
        label="Issues from logs"
        hint="Log records with exception attributes become issues too; the same exception on a span counts once."
        checked={project.settings.issuesFromLogs}
        disabled={disabled}
        onChange={(issuesFromLogs) => save({ issuesFromLogs }, "Saved")}
      />
      <Switch
        label="AI Traces of other conventions"
        hint="Model calls that OpenInference, Langfuse or the Vercel AI SDK describe without gen_ai attributes become AI Traces, with tokens, cost and conversation."
        checked={project.settings.aiConventions}
        disabled={disabled}
        onChange={(aiConventions) => save({ aiConventions }, "Saved")}
      />
      <Switch
        label="Exponential histograms and summaries"
        hint="Both are dropped and counted. Turn on to keep them: histograms with their buckets, for percentiles; summaries with a metric for each quantile, such as rpc.duration.p99."
        checked={project.settings.allMetricKinds}
        disabled={disabled}
        onChange={(allMetricKinds) => save({ allMetricKinds }, "Saved")}
      />
      <Problem of={change} />
    </div>
  );
}
