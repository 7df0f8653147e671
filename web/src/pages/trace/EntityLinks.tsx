import { Link } from "@tanstack/react-router";
import { Activity, Bot, ListChecks } from "lucide-react";
import { useProjectId } from "../../api/hooks";
import type { ColumnEntity, Span } from "../../model/types";

/** Links to the endpoint, task or AI trace of this span. */
export function EntityLinks({ span, entities }: { span: Span; entities: ColumnEntity[] }) {
  const pid = useProjectId();
  const named = (type: ColumnEntity["traceType"]) => entities.find((one) => one.traceType === type);
  const [endpoint, task, ai] = [named("endpoint")?.name, named("task")?.name, named("ai_trace")];
  const project = span.projectId || pid;
  if (!endpoint && !task && !ai) return null;
  return (
    <ul className="flex flex-col gap-1.5">
      {endpoint && (
        <li>
          <Link
            to="/p/$pid/endpoints/$name"
            params={{ pid: project, name: endpoint }}
            className="btn w-full justify-start!"
          >
            <Activity size={14} aria-hidden className="text-ink2" /> Endpoint{" "}
            <span className="truncate font-mono text-dense">{endpoint}</span>
          </Link>
        </li>
      )}
      {task && (
        <li>
          <Link to="/p/$pid/tasks/$name" params={{ pid: project, name: task }} className="btn w-full justify-start!">
            <ListChecks size={14} aria-hidden className="text-ink2" /> Task{" "}
            <span className="truncate font-mono text-dense">{task}</span>
          </Link>
        </li>
      )}
      {ai && (
        <li>
          <Link
            to="/p/$pid/ai/t/$rowId"
            params={{ pid: project, rowId: ai.id }}
            search={{ at: span.startTime }}
            className="btn w-full justify-start!"
          >
            <Bot size={14} aria-hidden className="text-ink2" /> AI trace <span className="truncate">{ai.name}</span>
          </Link>
        </li>
      )}
    </ul>
  );
}
