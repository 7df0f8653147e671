import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { providersQuery } from "../../api/account-sign-in";
import { DeadEnd, Waiting } from "./Frame";
import { RegisterForm } from "./RegisterForm";

/** The first account makes itself (/setup). Afterwards accounts come by invitation, unless the server says otherwise. */
export function Register() {
  const asked = useQuery(providersQuery);
  if (asked.isPending && asked.failureCount === 0) return <Waiting words="One moment…" />;
  if (asked.data?.registration)
    return (
      <RegisterForm
        title="Create an account"
        lead="With an organisation of your own and its first project."
        foot={<SignInInstead />}
      />
    );
  return (
    <DeadEnd
      title="By invitation only"
      lead="This server has its organisation already. Ask one of its owners or admins to invite you: the e-mail brings you to a page where you choose your password."
    >
      <Link to="/login" className="btn btn-primary">
        To the sign-in page
      </Link>
    </DeadEnd>
  );
}

function SignInInstead() {
  return (
    <>
      Have an account?{" "}
      <Link to="/login" className="link">
        Sign in
      </Link>
    </>
  );
}
