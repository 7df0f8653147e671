import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import {
  addContact,
  type ContactMethod,
  calendarQuery,
  contactsQuery,
  createCalendar,
  deleteContact,
  enableContact,
  endCalendar,
  resendCode,
  testContact,
  useContactChange,
  verifyContact,
} from "../../api/oncall";
import { showToast } from "../../model/toasts";
import { Ago } from "../../parts/Ago";
import { Confirm } from "../../parts/Confirm";
import { MutationButton, Problem, Submit } from "../../parts/MutationButton";
import { OnceSecret } from "../../parts/OnceSecret";
import { Section } from "../../parts/Page";
import { QueryView, SkeletonRows } from "../../parts/states";
import { Chip } from "../../ui/Chip";
import { Field } from "../../ui/Field";
import { SelectField } from "../../ui/SelectField";
import { Switch } from "../../ui/Switch";
import { ChainEditor } from "./ChainEditor";

const TYPES = {
  email: { label: "E-mail", fields: [{ key: "address", label: "Address", hint: "Empty: that of your account." }] },
  slack: { label: "Slack", fields: [{ key: "webhookUrl", label: "Webhook address" }] },
  pushover: {
    label: "Pushover",
    fields: [
      { key: "userKey", label: "User key" },
      { key: "appToken", label: "Application token" },
    ],
  },
  telegram: {
    label: "Telegram",
    fields: [
      { key: "botToken", label: "Bot token" },
      { key: "chatId", label: "Chat id" },
    ],
  },
  sms: { label: "SMS", fields: [{ key: "phoneNumber", label: "Phone number", hint: "With + and the country code." }] },
} as const;
type Type = keyof typeof TYPES;

/** Ways to reach the user: contact methods, chains, and the calendar of shifts. */
export function Contact() {
  const query = useQuery(contactsQuery);
  return (
    <>
      <Section title="Contact methods">
        <QueryView query={query} skeleton={<SkeletonRows rows={2} />}>
          {({ methods }) =>
            methods.length ? (
              <ul className="divide-y divide-line">
                {methods.map((method) => (
                  <Method key={method.id} method={method} />
                ))}
              </ul>
            ) : (
              <p className="text-ink2">None yet: pages are sent to the e-mail address of your account.</p>
            )
          }
        </QueryView>
      </Section>
      <Section title="New contact method">
        <New hasSms={query.data?.smsEnabled} />
      </Section>
      <ChainEditor methods={query.data?.methods ?? []} />
      <Calendar />
    </>
  );
}

function Method({ method }: { method: ContactMethod }) {
  const [code, setCode] = useState("");
  const [ending, setEnding] = useState(false);
  const enable = useContactChange(enableContact);
  const verify = useContactChange(verifyContact);
  const resend = useContactChange(resendCode);
  const test = useContactChange(testContact);
  const remove = useContactChange(deleteContact);
  return (
    <li className="space-y-2 py-2">
      <div className="flex flex-wrap items-center gap-2">
        <span className="min-w-0 flex-1 font-medium [overflow-wrap:anywhere]">{method.summary}</span>
        <Chip tone={method.verified ? "ok" : "warn"}>{method.verified ? "verified" : "not verified"}</Chip>
        {method.verified && (
          <MutationButton
            of={test}
            aria-label={`Test ${method.summary}`}
            onClick={() => test.mutate(method.id, { onSuccess: () => showToast("A test is on its way") })}
          >
            Test
          </MutationButton>
        )}
        <button type="button" className="btn" aria-label={`Delete ${method.summary}`} onClick={() => setEnding(true)}>
          Delete
        </button>
      </div>
      <Switch
        label={`Use ${method.summary}`}
        checked={method.enabled}
        onChange={(enabled) => enable.mutate({ id: method.id, enabled })}
      />
      {!method.verified && (
        <form
          className="flex flex-wrap items-end gap-2"
          onSubmit={(event) => {
            event.preventDefault();
            verify.mutate({ id: method.id, code }, { onSuccess: () => showToast("Verified") });
          }}
        >
          <Field
            label={`Code that was sent to ${method.summary}`}
            value={code}
            onText={setCode}
            inputMode="numeric"
            autoComplete="one-time-code"
            maxLength={6}
            required
          />
          <Submit of={verify} busy="Checking…">
            Verify
          </Submit>
          <MutationButton
            of={resend}
            onClick={() => resend.mutate(method.id, { onSuccess: () => showToast("A new code is on its way") })}
          >
            Send another code
          </MutationButton>
        </form>
      )}
      <Problem of={[verify, resend, test, enable].find((one) => one.error) ?? verify} />
      {ending && (
        <Confirm
          open
          onOpenChange={setEnding}
          title={`Delete ${method.summary}?`}
          label="Delete the contact method"
          of={remove}
          onConfirm={() => remove.mutate(method.id, { onSuccess: () => setEnding(false) })}
        >
          <p>Pages no longer reach you there. Its steps leave your chains.</p>
        </Confirm>
      )}
    </li>
  );
}

/** `hasSms` is undefined until the server has told whether it sends SMS. */
function New({ hasSms }: { hasSms?: boolean }) {
  const [type, setType] = useState<Type>("email");
  const [config, setConfig] = useState<Record<string, string>>({});
  const add = useContactChange(addContact);
  return (
    <form
      className="grid items-end gap-3 sm:grid-cols-2"
      onSubmit={(event) => {
        event.preventDefault();
        add.mutate(
          { methodType: type, config },
          {
            onSuccess: (method) => {
              setConfig({});
              showToast(method.verified ? "Added" : "Added: a code is on its way");
            },
          },
        );
      }}
    >
      <SelectField
        label="Type"
        value={type}
        hint={hasSms === false ? "SMS is not set up: whoever runs this server connects it to Twilio." : undefined}
        options={Object.entries(TYPES)
          .filter(([value]) => value !== "sms" || hasSms)
          .map(([value, { label }]) => ({ value, label }))}
        onChange={(value) => {
          setType(value as Type);
          setConfig({});
        }}
      />
      {TYPES[type].fields.map((field) => (
        <Field
          key={field.key}
          label={field.label}
          hint={"hint" in field ? field.hint : undefined}
          value={config[field.key] ?? ""}
          required={type !== "email"}
          autoComplete="off"
          onText={(value) => setConfig({ ...config, [field.key]: value })}
        />
      ))}
      <div className="sm:col-span-2">
        <Problem of={add} />
      </div>
      <div>
        <Submit of={add} busy="Adding…">
          Add
        </Submit>
      </div>
    </form>
  );
}

/** The secret address of the user's shifts, for calendar programs. */
function Calendar() {
  const [url, setUrl] = useState<string | null>(null);
  const query = useQuery(calendarQuery);
  const client = useQueryClient();
  const onSettled = () => client.invalidateQueries({ queryKey: calendarQuery.queryKey });
  const create = useMutation({ mutationFn: createCalendar, onSuccess: (made) => setUrl(made.url), onSettled });
  const end = useMutation({ mutationFn: endCalendar, onSuccess: () => setUrl(null), onSettled });
  return (
    <Section title="Calendar of your shifts">
      <QueryView query={query} skeleton={<SkeletonRows rows={1} />}>
        {({ createdAt }) => (
          <div className="space-y-3">
            <p className="text-ink2">
              {createdAt ? (
                <>
                  A calendar program reads your shifts from a secret address, created <Ago at={createdAt} />. Everybody
                  who has the address sees them.
                </>
              ) : (
                "A calendar program can read your shifts from a secret address."
              )}
            </p>
            {url && (
              <OnceSecret title="The address is ready" label="Address" secret={url} onDone={() => setUrl(null)} />
            )}
            <div className="flex flex-wrap gap-2">
              <MutationButton of={create} onClick={() => create.mutate()}>
                {createdAt ? "Make a new address" : "Make an address"}
              </MutationButton>
              {createdAt && (
                <MutationButton of={end} onClick={() => end.mutate()}>
                  End the address
                </MutationButton>
              )}
            </div>
            <Problem of={create.error ? create : end} />
          </div>
        )}
      </QueryView>
    </Section>
  );
}
