import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { deleteProject, useCacheProject } from "../../api/account-project";
import type { ProjectExtra } from "../../api/account-types";
import { showToast } from "../../model/toasts";
import { Confirm } from "../../parts/Confirm";
import { MutationButton, Problem } from "../../parts/MutationButton";

export function Danger({ project }: { project: ProjectExtra }) {
  const [open, setOpen] = useState(false);
  const keep = useCacheProject();
  const navigate = useNavigate();
  const remove = useMutation({
    mutationFn: () => deleteProject(project.id, project.name),
    onSuccess: () => {
      keep(project.id, null);
      navigate({ to: "/" });
      showToast(`Project ${project.name} is deleted`);
    },
  });
  return (
    <>
      <p className="mb-3 text-ink2">The project, its tokens and everything it stored are gone for good.</p>
      <MutationButton of={remove} className="btn btn-danger" onClick={() => setOpen(true)}>
        Delete the project
      </MutationButton>
      <Confirm
        open={open}
        onOpenChange={setOpen}
        title={`Delete ${project.name}?`}
        label="Delete for good"
        busy="Deleting…"
        typed={project.name}
        of={remove}
        onConfirm={() => remove.mutate()}
      >
        <p>Its tokens stop working at once; applications that still send are refused. This cannot be undone.</p>
      </Confirm>
      {!open && (
        <div className="mt-3">
          <Problem of={remove} />
        </div>
      )}
    </>
  );
}
