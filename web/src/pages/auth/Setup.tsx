import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { bundleQuery, register } from "../../api/account";
import { ApiError } from "../../api/client";
import type { Registration } from "../../api/types";
import { Field } from "../../ui/Field";
import { AuthFrame, FormError } from "./Frame";

/** First run: the one account that owns everything, its organisation and a first project. */
export function Setup() {
  const [form, setForm] = useState<Registration>({
    name: "",
    email: "",
    password: "",
    organizationName: "",
    projectName: "",
  });
  const put = (key: keyof Registration) => (text: string) => setForm((old) => ({ ...old, [key]: text }));
  const navigate = useNavigate();
  const client = useQueryClient();
  const create = useMutation({
    mutationFn: () => register(form),
    onSuccess: ({ user, projects, organizations, project }) => {
      client.setQueryData(bundleQuery.queryKey, { user, projects, organizations });
      const first = project ?? projects[0];
      navigate(first ? { to: "/p/$pid/connect", params: { pid: first.id } } : { to: "/" });
    },
  });
  const taken = create.error instanceof ApiError && create.error.status === 409;
  return (
    <AuthFrame
      title="Set up Tidewatch"
      lead="This server is new. Create the owner's account and the first project; it takes a minute."
    >
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
            label="Organisation"
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
        <FormError message={create.error?.message} />
        {taken && (
          <p>
            <Link to="/login" search={{ next: undefined }} className="link">
              Sign in instead
            </Link>
          </p>
        )}
        <button type="submit" className="btn btn-primary btn-big w-full" disabled={create.isPending}>
          {create.isPending ? "Creating…" : "Create account and project"}
        </button>
      </form>
    </AuthFrame>
  );
}
