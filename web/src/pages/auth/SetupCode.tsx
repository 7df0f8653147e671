import { useQuery } from "@tanstack/react-query";
import { hasOrganizations } from "../../api/account";
import { Field } from "../../ui/Field";

/** Message for a rejected setup code. */
export const WRONG_SETUP_CODE = { 403: "That is not the setup code that the server printed when it started." };

/** Field for the setup code of the first account, if the server requires one. */
export function SetupCode({ value, onText }: { value: string; onText: (text: string) => void }) {
  const isRequired = useQuery({ queryKey: ["has-organizations"], queryFn: hasOrganizations }).data?.needsSetupCode;
  if (!isRequired) return null;
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
