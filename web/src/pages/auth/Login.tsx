import { useMutation, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useRouter } from "@tanstack/react-router";
import { useState } from "react";
import { bundleQuery, login } from "../../api/account";
import { ApiError } from "../../api/client";
import { Field } from "../../ui/Field";
import { AuthFrame, FormError } from "./Frame";

const route = getRouteApi("/login");

export function Login() {
  const { next } = route.useSearch();
  const router = useRouter();
  const client = useQueryClient();
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const enter = useMutation({
    mutationFn: () => login(email.trim(), password),
    onSuccess: ({ user, projects, organizations }) => {
      client.setQueryData(bundleQuery.queryKey, { user, projects, organizations });
      // Only paths of this site: a link must not send a signed-in user elsewhere.
      router.history.push(next?.startsWith("/") && !next.startsWith("//") ? next : "/");
    },
  });
  return (
    <AuthFrame title="Sign in" lead="Welcome back.">
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          enter.mutate();
        }}
      >
        <Field big label="E-mail" type="email" autoComplete="username" required value={email} onText={setEmail} />
        <Field
          big
          label="Password"
          type="password"
          autoComplete="current-password"
          required
          value={password}
          onText={setPassword}
        />
        <FormError message={enter.error ? words(enter.error) : undefined} />
        <button type="submit" className="btn btn-primary btn-big w-full" disabled={enter.isPending}>
          {enter.isPending ? "Signing in…" : "Sign in"}
        </button>
      </form>
    </AuthFrame>
  );
}

function words(error: Error): string {
  if (!(error instanceof ApiError)) return error.message;
  if (error.status === 401) return "E-mail or password is wrong.";
  if (error.status === 429) return `Too many tries. Wait ${error.retryAfter ?? 60} s and try again.`;
  return error.message;
}
