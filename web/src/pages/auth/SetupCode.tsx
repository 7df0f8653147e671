import { useQuery } from "@tanstack/react-query";
import { hasOrganizations } from "../../api/account";
import { Field } from "../../ui/Field";

/** What the server says to whoever does not have it. */
export const WRONG_SETUP_CODE = { 403: "That is not the setup code that the server printed when it started." };

/** The field for the code that the first account is made with, where the server asks for one. */
export function SetupCode({ value, onText }: { value: string; onText: (text: string) => void }) {
  const asked = useQuery({ queryKey: ["has-organizations"], queryFn: hasOrganizations }).data?.needsSetupCode;
  if (!asked) return null;
  return (
    <Field
      big
      label="Setup code"
      className="input input-big font-mono"
      autoComplete="off"
      spellCheck={false}
      placeholder="XXXX-XXXX-XXXX"
      required
      value={value}
      onText={onText}
      hint="The server printed it where it was started: in its terminal or its log."
    />
  );
}
