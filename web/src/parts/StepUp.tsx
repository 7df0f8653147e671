// Opens the step-up dialog when the server requires it. One instance for the app; `request` waits for its result. The
// dialog is loaded lazily.
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { whenStepUpIsNeeded } from "../api/client";

const StepUpDialog = lazy(() => import("./StepUpDialog").then((part) => ({ default: part.StepUpDialog })));

export function StepUp() {
  const [open, setOpen] = useState(false);
  // Several requests may wait for one verification.
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
