// The second step: an authenticator app, and recovery codes for a lost phone.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { confirmTotp, newRecoveryCodes, removeTotp, startTotp, twoFactorQuery } from "../../api/account-me";
import type { TotpSetup, TwoFactor } from "../../api/account-types";
import { plural } from "../../model/format";
import { showToast } from "../../model/toasts";
import { Problem, Submit } from "../../parts/MutationButton";
import { Chip } from "../../ui/Chip";
import { CopyButton } from "../../ui/Copy";
import { Dialog } from "../../ui/Dialog";
import { Field, focusHere } from "../../ui/Field";
import { PasswordPrompt } from "./PasswordPrompt";
import { RecoveryCodes } from "./RecoveryCodes";

type Step = "closed" | "on" | "off" | "codes";

export function Totp({ state }: { state: TwoFactor }) {
  const any = state.totp || state.passkeys.length > 0;
  const [step, setStep] = useState<Step>("closed");
  const close = () => setStep("closed");
  return (
    <>
      <p className="flex flex-wrap items-center gap-2">
        <span className="font-medium">Authenticator app</span>
        {state.totp ? <Chip tone="ok">on</Chip> : <Chip>off</Chip>}
        {any && (
          <Chip tone={state.recoveryCodesLeft <= 2 ? "warn" : "plain"}>
            {plural(state.recoveryCodesLeft, "recovery code")} left
          </Chip>
        )}
      </p>
      <p className="mt-1 mb-3 text-ink2">
        {state.totp
          ? "Signing in with the password asks for a code from your app as well."
          : "A code from an app on your phone besides the password: a stolen password alone opens nothing."}
      </p>
      <div className="flex flex-wrap gap-2">
        {!state.totp && (
          <button type="button" className="btn" onClick={() => setStep("on")}>
            Set up an authenticator app
          </button>
        )}
        {any && (
          <button type="button" className="btn" onClick={() => setStep("codes")}>
            New recovery codes
          </button>
        )}
        {state.totp && (
          <button type="button" className="btn btn-danger" onClick={() => setStep("off")}>
            Turn off
          </button>
        )}
      </div>
      {step === "on" && <TurnOn close={close} />}
      {step === "off" && <TurnOff alone={state.passkeys.length === 0} close={close} />}
      {step === "codes" && <NewCodes close={close} />}
    </>
  );
}

function useRefresh(): () => void {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: twoFactorQuery.queryKey });
}

function TurnOn({ close }: { close: () => void }) {
  const [setup, setSetup] = useState<TotpSetup | null>(null);
  const [codes, setCodes] = useState<string[] | null>(null);
  const refresh = useRefresh();
  const start = useMutation({ mutationFn: startTotp, onSuccess: setSetup });
  const confirm = useMutation({
    mutationFn: confirmTotp,
    onSuccess: ({ recoveryCodes }) => {
      setCodes(recoveryCodes);
      refresh();
    },
  });
  return (
    // While codes are shown, only their button closes the dialog: they are shown once.
    <Dialog
      open
      held={!!codes}
      onOpenChange={(open) => !open && !codes && close()}
      title={codes ? "Keep your recovery codes" : "Set up an authenticator app"}
    >
      {!setup && <PasswordPrompt of={start} label="Go on" onCancel={close} onPassword={(text) => start.mutate(text)} />}
      {setup && !codes && <Scan setup={setup} of={confirm} onCode={(code) => confirm.mutate(code)} />}
      {codes && (
        <RecoveryCodes
          codes={codes}
          onKept={() => {
            close();
            showToast("The second step is on");
          }}
        />
      )}
    </Dialog>
  );
}

function Scan({
  setup,
  of,
  onCode,
}: {
  setup: TotpSetup;
  of: { isPending: boolean; error: Error | null };
  onCode: (code: string) => void;
}) {
  const [code, setCode] = useState("");
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        onCode(code.replace(/\s/g, ""));
      }}
    >
      <p className="text-ink2">Scan this with your authenticator app, then type the code that it shows.</p>
      <div className="grid place-items-center">
        {/* An <img>, so that the server's SVG is not part of the document. White in every theme. */}
        <img
          src={`data:image/svg+xml;charset=utf-8,${encodeURIComponent(setup.qrSvg)}`}
          alt="QR code for your authenticator app"
          width={192}
          height={192}
          className="rounded-control border border-line bg-[#fff] p-2"
        />
      </div>
      <details>
        <summary className="text-ink2">Cannot scan? Type the secret instead.</summary>
        <div className="mt-2 flex items-center gap-1">
          <code className="min-w-0 flex-1 rounded-control border border-line bg-panel px-2 py-1 font-mono text-dense [overflow-wrap:anywhere]">
            {setup.secret}
          </code>
          <CopyButton text={setup.secret} label="Copy the secret" />
        </div>
        <p className="mt-1 text-dense text-ink2">Time-based, six digits, every 30 seconds.</p>
      </details>
      <Field
        big
        label="Code from the app"
        inputMode="numeric"
        autoComplete="one-time-code"
        pattern="\s*(\d\s*){6}"
        title="Six digits"
        placeholder="123456"
        required
        value={code}
        onText={setCode}
        ref={focusHere}
      />
      <Problem
        of={of}
        own={{
          400: "That code does not fit. Is the clock of the phone right? Codes change every 30 seconds.",
          401: "That code does not fit. Is the clock of the phone right? Codes change every 30 seconds.",
        }}
      />
      <Submit of={of} busy="Checking…" className="btn btn-primary btn-big w-full">
        Turn on
      </Submit>
    </form>
  );
}

function TurnOff({ alone, close }: { alone: boolean; close: () => void }) {
  const refresh = useRefresh();
  const remove = useMutation({
    mutationFn: removeTotp,
    onSuccess: () => {
      close();
      refresh();
      showToast("The second step is off");
    },
  });
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && close()}
      title="Turn the second step off?"
      description={
        alone
          ? "Signing in will ask for the password alone. The recovery codes stop working."
          : "Signing in will ask for a passkey after the password, or a recovery code."
      }
    >
      <PasswordPrompt of={remove} label="Turn off" danger onCancel={close} onPassword={(text) => remove.mutate(text)} />
    </Dialog>
  );
}

function NewCodes({ close }: { close: () => void }) {
  const refresh = useRefresh();
  const make = useMutation({ mutationFn: newRecoveryCodes, onSuccess: refresh });
  return (
    <Dialog
      open
      held={!!make.data}
      onOpenChange={(open) => !open && !make.data && close()}
      title={make.data ? "Keep your recovery codes" : "New recovery codes"}
      description={make.data ? undefined : "The old ones stop working."}
    >
      {make.data ? (
        <RecoveryCodes codes={make.data.recoveryCodes} onKept={close} />
      ) : (
        <PasswordPrompt of={make} label="Make new codes" onCancel={close} onPassword={(text) => make.mutate(text)} />
      )}
    </Dialog>
  );
}
