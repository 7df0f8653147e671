import { useState } from "react";
import { useChangeMe } from "../../api/account-me";
import type { ThemePreference, User } from "../../api/account-types";
import { setTheme } from "../../api/theme";
import { dateTime, timeZone } from "../../model/time";
import { showToast } from "../../model/toasts";
import { Problem, Submit } from "../../parts/MutationButton";
import { Section } from "../../parts/Page";
import { ZoneSelect } from "../../parts/ZoneSelect";
import { Chip } from "../../ui/Chip";
import { Field } from "../../ui/Field";
import { Segmented } from "../../ui/Segmented";
import { useThemeChoice } from "../../ui/theme";

const THEMES: { value: ThemePreference; label: string }[] = [
  { value: "system", label: "As the system" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
];

export function Profile({ user }: { user: User }) {
  return (
    <>
      <Section title="You">
        <Name user={user} />
      </Section>
      <Section title="How it looks">
        <Appearance user={user} />
      </Section>
    </>
  );
}

function Name({ user }: { user: User }) {
  const [name, setName] = useState(user.name);
  const change = useChangeMe();
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate({ name: name.trim() }, { onSuccess: () => showToast("Name saved") });
      }}
    >
      <div className="flex items-end gap-2">
        <div className="min-w-0 max-w-md flex-1">
          <Field label="Name" autoComplete="name" required maxLength={100} value={name} onText={setName} />
        </div>
        <Submit of={change} className="btn" disabled={!name.trim() || name.trim() === user.name}>
          Save
        </Submit>
      </div>
      <Problem of={change} />
      <div>
        <div className="mb-1 font-medium">E-mail</div>
        <p className="flex flex-wrap items-center gap-2 [overflow-wrap:anywhere]">
          {user.email}
          {user.emailVerified === true && <Chip tone="ok">verified</Chip>}
          {user.emailVerified === false && (
            <Chip
              tone="warn"
              tip="Nobody has proved yet that mail to this address reaches you. An invitation or a reset by mail does."
            >
              not verified
            </Chip>
          )}
        </p>
      </div>
    </form>
  );
}

function Appearance({ user }: { user: User }) {
  const theme = useThemeChoice();
  const change = useChangeMe();
  return (
    <div className="space-y-4">
      <div>
        <div className="mb-1 font-medium">Theme</div>
        <Segmented
          label="Theme"
          value={theme}
          options={THEMES}
          onChange={(next) => {
            setTheme(next);
            change.mutate({ theme: next }, { onSuccess: () => showToast("Theme saved") });
          }}
        />
      </div>
      <div className="max-w-md">
        <ZoneSelect
          browser
          label="Time zone"
          value={user.timezone ?? ""}
          hint={`Times are shown in it: ${dateTime(Date.now())} (${timeZone().replaceAll("_", " ")}) now.`}
          onChange={(timezone) => change.mutate({ timezone }, { onSuccess: () => showToast("Time zone saved") })}
        />
      </div>
      <Problem of={change} />
    </div>
  );
}
