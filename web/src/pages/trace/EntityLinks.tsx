import { Link } from "@tanstack/react-router";
import { Activity, Bot, ListChecks } from "lucide-react";
import { useProjectId } from "../../api/hooks";
import type { Span, TraceNode } from "../../api/types";

/** Links to the endpoint, task or AI trace of this span. */
export function EntityLinks({ span, nodes }: { span: Span; nodes: TraceNode[] | null }) {
  const pid = useProjectId();
  const own = (nodes ?? []).filter((node) => node.spanId === span.spanId);
  const endpoint = own.find((node) => node.endpoint)?.endpoint?.endpoint ?? (span.isEndpoint ? span.entityName : null);
  const task = own.find((node) => node.task)?.task?.taskName ?? (span.isTask ? span.entityName : null);
  const ai = own.find((node) => node.aiTrace)?.aiTrace;
  const project = span.projectId || pid;
  if (!endpoint && !task && !ai && !span.isAiTrace) return null;
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
      {(ai || (span.isAiTrace && span.entityId)) && (
        <li>
          <Link
            to="/p/$pid/ai/t/$rowId"
            params={{ pid: project, rowId: ai?.id ?? span.entityId ?? "" }}
            search={{ at: span.startTime }}
            className="btn w-full justify-start!"
          >
            <Bot size={14} aria-hidden className="text-ink2" /> AI trace{" "}
            <span className="truncate">{ai?.traceName ?? span.entityName}</span>
          </Link>
        </li>
      )}
    </ul>
  );
}
