// The address that a job calls, which is shown once.
import type { Check } from "../../model/types";
import { OnceSecret } from "../../parts/OnceSecret";
import { Dialog } from "../../ui/Dialog";

export function TokenDialog({ check, onDone }: { check: Check; onDone: () => void }) {
  const url = `${location.origin}/api/heartbeat/${check.token}`;
  return (
    <Dialog open held wide onOpenChange={() => {}} title={`Address of ${check.name}`}>
      <OnceSecret title="The address of the heartbeat is ready" label="Address" secret={url} onDone={onDone}>
        Call it at the end of the job, for example <code>backup.sh; curl -fsS {"<address>"}/$?</code> in a crontab. An
        exit code other than 0, or <code>/fail</code> at the end, says that the job has failed.
      </OnceSecret>
    </Dialog>
  );
}
