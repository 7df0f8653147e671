// Asks who is there, when the server wants to know again. One for the whole app: `request` waits for it. The dialog is
// loaded when it is first needed.
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { whenStepUpIsNeeded } from "../api/client";

const StepUpDialog = lazy(() => import("./StepUpDialog").then((part) => ({ default: part.StepUpDialog })));

export function StepUp() {
  const [open, setOpen] = useState(false);
  // Several calls may wait for one proof.
  const waiting = useRef<((isProved: boolean) => void)[]>([]);
  useEffect(() => {
    whenStepUpIsNeeded(() => {
      setOpen(true);
      return new Promise((resolve) => waiting.current.push(resolve));
    });
  }, []);
  const finish = (isProved: boolean) => {
    setOpen(false);
    for (const resolve of waiting.current.splice(0)) resolve(isProved);
  };
  return <Suspense fallback={null}>{open && <StepUpDialog onEnd={finish} />}</Suspense>;
}
