// The form of a monitor: what all types have, and the configuration of its type.
import { useState } from "react";
import { useSaveMonitor } from "../../api/monitors";
import {
  CHECK_TYPES,
  type CheckType,
  type Draft,
  draftOf,
  NEW_DRAFT,
  requestOf,
  spell,
  TYPE_WORDS,
} from "../../model/monitors";
import type { Check } from "../../model/types";
import { Problem, Submit } from "../../parts/MutationButton";
import { Dialog } from "../../ui/Dialog";
import { Field, focusHere } from "../../ui/Field";
import { SelectField } from "../../ui/SelectField";
import { Switch } from "../../ui/Switch";
import { TextArea } from "../../ui/TextArea";
import { BrowserFields } from "./BrowserFields";

interface FieldsProps {
  draft: Draft;
  set: (change: Partial<Draft>) => void;
}

export function MonitorForm({
  check,
  browserProblem,
  onClose,
  onSaved,
}: {
  /** The monitor to change; a new one without it. */
  check?: Check;
  /** Reason for which the server makes no checks by a browser. */
  browserProblem?: string | null;
  onClose: () => void;
  onSaved: (check: Check) => void;
}) {
  const [draft, setDraft] = useState<Draft>(() => (check ? draftOf(check) : NEW_DRAFT));
  const save = useSaveMonitor(check?.id);
  const set = (change: Partial<Draft>) => setDraft((old) => ({ ...old, ...change }));
  const isHeartbeat = draft.checkType === "heartbeat";
  const choose = (type: string) =>
    set({
      checkType: type as CheckType,
      failureThreshold: type === "heartbeat" ? "1" : "3",
      // A browser starts within seconds, and is not cheap.
      timeoutSeconds: type === "browser" ? "60" : "10",
      intervalSeconds: type === "browser" ? "300" : "60",
    });
  return (
    <Dialog open wide onOpenChange={onClose} title={check ? `Edit ${check.name}` : "New monitor"}>
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate(requestOf(draft, check?.enabled ?? true), { onSuccess: onSaved });
        }}
      >
        <div className="grid gap-4 sm:grid-cols-2">
          <Field
            ref={focusHere}
            label="Name"
            value={draft.name}
            onText={(name) => set({ name })}
            maxLength={200}
            required
            autoComplete="off"
          />
          <SelectField
            label="Type"
            value={draft.checkType}
            disabled={!!check}
            hint={TYPE_WORDS[draft.checkType].about}
            options={CHECK_TYPES.map((type) => ({ value: type, label: TYPE_WORDS[type].label }))}
            onChange={choose}
          />
        </div>
        {draft.checkType === "browser" ? (
          <BrowserFields draft={draft} set={set} problem={browserProblem} />
        ) : (
          <TypeFields draft={draft} set={set} />
        )}
        <fieldset className="grid gap-4 sm:grid-cols-3">
          <legend className="sr-only">Schedule</legend>
          {!isHeartbeat && (
            <>
              <SelectField
                label="Check every"
                value={draft.intervalSeconds}
                options={seconds(INTERVALS, draft.intervalSeconds)}
                onChange={(intervalSeconds) => set({ intervalSeconds })}
              />
              <Field
                label="Time limit in seconds"
                type="number"
                min={1}
                max={120}
                required
                value={draft.timeoutSeconds}
                onText={(timeoutSeconds) => set({ timeoutSeconds })}
              />
            </>
          )}
          <Field
            label="Down after failures"
            hint={isHeartbeat ? undefined : "One after another."}
            type="number"
            min={1}
            max={10}
            required
            value={draft.failureThreshold}
            onText={(failureThreshold) => set({ failureThreshold })}
          />
        </fieldset>
        <Problem of={save} />
        <div className="flex justify-end gap-2">
          <button type="button" className="btn" onClick={onClose}>
            Cancel
          </button>
          <Submit of={save} busy="Saving…">
            {check ? "Save" : "Create monitor"}
          </Submit>
        </div>
      </form>
    </Dialog>
  );
}

const INTERVALS = [30, 60, 120, 300, 600, 1800, 3600, 21_600, 86_400];
const PERIODS = [60, 300, 900, 1800, 3600, 21_600, 43_200, 86_400, 604_800];
const GRACES = [0, 30, 60, 300, 600, 1800, 3600, 21_600];

/** Options, with the current value if it is not among the usual ones. */
function seconds(usual: number[], current: string): { value: string; label: string }[] {
  const all = usual.includes(Number(current)) ? usual : [...usual, Number(current)].sort((a, b) => a - b);
  return all.map((value) => ({ value: String(value), label: spell(value) }));
}

function TypeFields(props: FieldsProps) {
  switch (props.draft.checkType) {
    case "http":
      return <HttpFields {...props} />;
    case "tcp":
      return <TcpFields {...props} />;
    case "tls":
      return <TlsFields {...props} />;
    case "dns":
      return <DnsFields {...props} />;
    case "heartbeat":
      return <HeartbeatFields {...props} />;
    default:
      return null;
  }
}

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

function HttpFields({ draft, set }: FieldsProps) {
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-[120px_1fr]">
        <SelectField
          label="Method"
          value={draft.method}
          options={METHODS.map((method) => ({ value: method, label: method }))}
          onChange={(method) => set({ method })}
        />
        <Field label="URL" type="url" required value={draft.url} onText={(url) => set({ url })} spellCheck={false} />
      </div>
      <fieldset className="grid gap-4 sm:grid-cols-2">
        <legend className="mb-2 font-semibold">The response must have</legend>
        <Field
          label="Status"
          hint="Such as 200, 204. Empty: below 400."
          value={draft.statusCodes}
          onText={(statusCodes) => set({ statusCodes })}
        />
        <Field
          label="A body that contains"
          value={draft.bodyContains}
          onText={(bodyContains) => set({ bodyContains })}
        />
        <Field
          label="A body that matches"
          hint="A regular expression."
          value={draft.bodyRegex}
          onText={(bodyRegex) => set({ bodyRegex })}
          spellCheck={false}
        />
        <Field
          label="At most milliseconds"
          type="number"
          min={1}
          value={draft.maxResponseTimeMs}
          onText={(maxResponseTimeMs) => set({ maxResponseTimeMs })}
        />
        <DaysField draft={draft} set={set} />
      </fieldset>
      <details>
        <summary className="cursor-pointer font-semibold">Request: authentication, headers, body, TLS</summary>
        <div className="mt-3 space-y-4">
          <Authentication draft={draft} set={set} />
          <TextArea
            label="Headers"
            hint="One in a line: Name: value."
            rows={3}
            value={draft.headers}
            onText={(headers) => set({ headers })}
          />
          <TextArea label="Body" rows={3} value={draft.body} onText={(body) => set({ body })} />
          <Field
            label="Content type of the body"
            placeholder="application/json"
            value={draft.bodyContentType}
            onText={(bodyContentType) => set({ bodyContentType })}
          />
          <Switch
            label="Follow redirects"
            checked={draft.followRedirects}
            onChange={(followRedirects) => set({ followRedirects })}
          />
          <SkipVerify draft={draft} set={set} />
        </div>
      </details>
    </>
  );
}

const AUTH_TYPES = [
  { value: "none", label: "None" },
  { value: "basic", label: "User and password" },
  { value: "bearer", label: "Bearer token" },
  { value: "header", label: "Header" },
];

function Authentication({ draft, set }: FieldsProps) {
  return (
    <div className="grid gap-4 sm:grid-cols-3">
      <SelectField
        label="Authentication"
        value={draft.authType}
        options={AUTH_TYPES}
        onChange={(authType) => set({ authType })}
      />
      {draft.authType === "basic" && (
        <>
          <Field label="User" value={draft.username} onText={(username) => set({ username })} autoComplete="off" />
          <SecretField label="Password" value={draft.password} onText={(password) => set({ password })} />
        </>
      )}
      {draft.authType === "bearer" && (
        <SecretField label="Token" value={draft.token} onText={(token) => set({ token })} />
      )}
      {draft.authType === "header" && (
        <>
          <Field label="Header" value={draft.headerName} onText={(headerName) => set({ headerName })} />
          <SecretField label="Value" value={draft.headerValue} onText={(headerValue) => set({ headerValue })} />
        </>
      )}
    </div>
  );
}

function SecretField(props: { label: string; value: string; onText: (text: string) => void }) {
  return <Field type="password" autoComplete="new-password" {...props} />;
}

function SkipVerify({ draft, set }: FieldsProps) {
  return (
    <Switch
      label="Accept any certificate"
      hint="Also one of an unknown issuer or of another name."
      checked={draft.skipTlsVerify}
      onChange={(skipTlsVerify) => set({ skipTlsVerify })}
    />
  );
}

function DaysField({ draft, set, required }: FieldsProps & { required?: boolean }) {
  return (
    <Field
      label="Certificate valid for days"
      type="number"
      min={0}
      max={3650}
      required={required}
      value={draft.tlsMinDaysRemaining}
      onText={(tlsMinDaysRemaining) => set({ tlsMinDaysRemaining })}
    />
  );
}

function HostFields({ draft, set }: FieldsProps) {
  return (
    <div className="grid gap-4 sm:grid-cols-[1fr_120px]">
      <Field label="Host" required value={draft.host} onText={(host) => set({ host })} spellCheck={false} />
      <Field
        label="Port"
        type="number"
        min={1}
        max={65_535}
        required
        value={draft.port}
        onText={(port) => set({ port })}
      />
    </div>
  );
}

function TcpFields({ draft, set }: FieldsProps) {
  return (
    <>
      <HostFields draft={draft} set={set} />
      <Switch label="TLS" checked={draft.useTls} onChange={(useTls) => set({ useTls })} />
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Send" value={draft.sendPayload} onText={(sendPayload) => set({ sendPayload })} />
        <Field
          label="The answer must contain"
          value={draft.expectContains}
          onText={(expectContains) => set({ expectContains })}
        />
        {draft.useTls && <DaysField draft={draft} set={set} />}
      </div>
    </>
  );
}

function TlsFields({ draft, set }: FieldsProps) {
  return (
    <>
      <HostFields draft={draft} set={set} />
      <div className="grid gap-4 sm:grid-cols-2">
        <DaysField draft={draft} set={set} />
        <Field
          label="Name in the certificate"
          hint="Empty: the host."
          value={draft.serverName}
          onText={(serverName) => set({ serverName })}
        />
      </div>
      <SkipVerify draft={draft} set={set} />
    </>
  );
}

const RECORD_TYPES = ["A", "AAAA", "CNAME", "MX", "NS", "TXT"];

function DnsFields({ draft, set }: FieldsProps) {
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Field
        label="DNS name"
        required
        value={draft.dnsName}
        onText={(dnsName) => set({ dnsName })}
        spellCheck={false}
      />
      <SelectField
        label="Record"
        value={draft.recordType}
        options={RECORD_TYPES.map((type) => ({ value: type, label: type }))}
        onChange={(recordType) => set({ recordType })}
      />
      <Field
        label="One must be"
        hint="Empty: there is a record."
        value={draft.expectedValue}
        onText={(expectedValue) => set({ expectedValue })}
      />
      <Field
        label="DNS server"
        hint="An IP address. Empty: that of the machine."
        value={draft.server}
        onText={(server) => set({ server })}
      />
    </div>
  );
}

function HeartbeatFields({ draft, set }: FieldsProps) {
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <SelectField
        label="The job reports every"
        value={draft.periodSeconds}
        options={seconds(PERIODS, draft.periodSeconds)}
        onChange={(periodSeconds) => set({ periodSeconds })}
      />
      <SelectField
        label="And may be late by"
        value={draft.graceSeconds}
        options={seconds(GRACES, draft.graceSeconds)}
        onChange={(graceSeconds) => set({ graceSeconds })}
      />
    </div>
  );
}
