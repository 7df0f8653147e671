// A project's tokens and its end.
import { useQueryClient } from "@tanstack/react-query";
import { bundleQuery } from "./account";
import type { ProjectExtra } from "./account-types";
import { request } from "./client";

export type TokenKind = "runtime" | "upload";

const TOKEN_PATH = { runtime: "/api/projects/token", upload: "/api/projects/source-map-token" } as const;

/** Replaces a token; the old one is taken for so many hours more. */
export async function rotateToken(
  projectId: string,
  kind: TokenKind,
  graceHours: number,
): Promise<Partial<ProjectExtra>> {
  const query = { projectId };
  const { token } = await request<{ token: string }>("POST", TOKEN_PATH[kind], { query, body: { graceHours } });
  const previousTokenExpiresAt = new Date(Date.now() + graceHours * 3_600_000).toISOString();
  return kind === "runtime" ? { token, previousTokenExpiresAt } : { sourceMapToken: token };
}
export function deleteProject(projectId: string, name: string): Promise<unknown> {
  return request("DELETE", "/api/projects", { query: { projectId }, body: { name } });
}

/** Puts a changed project into what is known about the account; null takes it out. */
export function useKeepProject() {
  const client = useQueryClient();
  return (id: string, change: Partial<ProjectExtra> | null) =>
    client.setQueryData(
      bundleQuery.queryKey,
      (old) =>
        old && {
          ...old,
          projects: change
            ? old.projects.map((one) => (one.id === id ? { ...one, ...change } : one))
            : old.projects.filter((one) => one.id !== id),
        },
    );
}
