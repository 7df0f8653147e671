import { RegisterForm } from "./RegisterForm";

/** First run: creates the owner's account, the organization and a first project. */
export function Setup() {
  return (
    <RegisterForm
      title="Set up Tidewatch"
      lead="This server is new. Create the owner's account and the first project; it takes a minute."
    />
  );
}
