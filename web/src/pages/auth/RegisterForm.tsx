import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { enterSession, register } from "../../api/account";
import { ApiError } from "../../api/client";
import type { Registration } from "../../model/types";
import { Problem, Submit } from "../../parts/MutationButton";
import { Field } from "../../ui/Field";
import { AuthFrame } from "./Frame";
import { SetupCode, WRONG_SETUP_CODE } from "./SetupCode";

export function RegisterForm({ title, lead, foot }: { title: string; lead: string; foot?: ReactNode }) {
  const [form, setForm] = useState<Registration>({
    name: "",
    email: "",
    password: "",
    organizationName: "",
    projectName: "",
    setupCode: "",
  });
  const put = (key: keyof Registration) => (text: string) => setForm((old) => ({ ...old, [key]: text }));
  const navigate = useNavigate();
  const client = useQueryClient();
  const create = useMutation({
    mutationFn: () => register({ ...form, email: form.email.trim() }),
    onSuccess: (session) => {
      enterSession(client, session);
      const first = session.project ?? session.projects[0];
      navigate(first ? { to: "/p/$pid/connect", params: { pid: first.id } } : { to: "/" });
    },
  });
  const taken = create.error instanceof ApiError && create.error.status === 409;
  return (
    <AuthFrame title={title} lead={lead} foot={foot}>
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate();
        }}
      >
        <Field big label="Your name" autoComplete="name" required value={form.name} onText={put("name")} />
        <Field
          big
          label="E-mail"
          type="email"
          autoComplete="username"
          required
          value={form.email}
          onText={put("email")}
        />
        <Field
          big
          label="Password"
          type="password"
          autoComplete="new-password"
          required
          minLength={8}
          value={form.password}
          onText={put("password")}
          hint="At least 8 characters."
        />
        <div className="grid gap-4 sm:grid-cols-2">
          <Field
            big
            label="Organization"
            autoComplete="organization"
            required
            value={form.organizationName}
            onText={put("organizationName")}
            placeholder="Acme"
          />
          <Field
            big
            label="First project"
            required
            maxLength={100}
            value={form.projectName}
            onText={put("projectName")}
            placeholder="shop"
          />
        </div>
        <SetupCode value={form.setupCode ?? ""} onText={put("setupCode")} />
        <Problem of={create} own={WRONG_SETUP_CODE} />
        {taken && (
          <p>
            <Link to="/login" className="link">
              Sign in instead
            </Link>
          </p>
        )}
        <Submit of={create} busy="Creating…" className="btn btn-primary btn-big w-full">
          Create account and project
        </Submit>
      </form>
    </AuthFrame>
  );
}
