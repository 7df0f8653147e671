import { useState } from "react";
import { type MutationState, Problem, Submit } from "../../parts/MutationButton";
import { Field, focusHere } from "../../ui/Field";

/** Prompts for the password before a sensitive action. */
export function PasswordPrompt({
  of,
  label,
  danger,
  onCancel,
  onPassword,
}: {
  of: MutationState;
  label: string;
  danger?: boolean;
  onCancel: () => void;
  onPassword: (password: string) => void;
}) {
  const [password, setPassword] = useState("");
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        onPassword(password);
      }}
    >
      <Field
        big
        label="Your password"
        type="password"
        autoComplete="current-password"
        value={password}
        onText={setPassword}
        hint="Leave it empty when your account has none (sign-in through a provider)."
        ref={focusHere}
      />
      <Problem of={of} own={{ 401: "The password is wrong.", 403: "The password is wrong." }} />
      <div className="flex justify-end gap-2">
        <button type="button" className="btn" onClick={onCancel}>
          Cancel
        </button>
        <Submit of={of} className={danger ? "btn btn-danger" : "btn btn-primary"}>
          {label}
        </Submit>
      </div>
    </form>
  );
}
