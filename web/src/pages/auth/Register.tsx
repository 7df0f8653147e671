import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { providersQuery } from "../../api/account-sign-in";
import { DeadEnd, PageLoading } from "./Frame";
import { RegisterForm } from "./RegisterForm";

/** Registration. The first account is created by /setup; others need an invitation unless registration is open. */
export function Register() {
  const query = useQuery(providersQuery);
  if (query.isPending && query.failureCount === 0) return <PageLoading words="One moment…" />;
  if (query.data?.registration)
    return (
      <RegisterForm
        title="Create an account"
        lead="With an organization of your own and its first project."
        foot={<SignInInstead />}
      />
    );
  return (
    <DeadEnd
      title="By invitation only"
      lead="This server has its organization already. Ask one of its owners or admins to invite you: the e-mail brings you to a page where you choose your password."
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
