import { getRouteApi } from "@tanstack/react-router";
import { EntityList } from "../entities/EntityList";
import { taskColumns } from "../entities/taskColumns";

const route = getRouteApi("/p/$pid/tasks");

export function TasksPage() {
  return (
    <EntityList
      kind="task"
      title="Tasks"
      sub="Queue jobs and console commands, the most uneven and frequent first."
      what="tasks"
      noun="tasks"
      about="Work taken from a queue (CONSUMER spans) and console commands become rows here."
      search={route.useSearch()}
      columns={taskColumns}
      fallback={{ by: "impact", desc: true }}
      nameOf={(row) => row.taskName}
    />
  );
}
