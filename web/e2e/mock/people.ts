// Accounts of the mock: sign-in, invitations, account, organization. Words in e-mail addresses select the case.
import { organizations, projects, user } from "./account.ts";
import type { Body } from "./common.ts";

/** A response with another status than 200. */
export class Refused {
  constructor(
    readonly status: number,
    readonly error: string,
    readonly retryAfter?: number,
  ) {}
}

type Handler = (body: Body, url: URL, parts: string[], linkToken: string) => unknown;

const now = Date.now();
const iso = (ms: number) => new Date(ms).toISOString();
const ago = (days: number) => iso(now - days * 86_400_000);
const ahead = (days: number) => iso(now + days * 86_400_000);

const bundle = () => ({ user, projects, organizations });
const session = () => ({ token: "mock", ...bundle() });

let members = [
  {
    userId: 1,
    email: "ada@example.com",
    name: "Ada Byron",
    role: "owner",
    joinedAt: ago(104),
    twoFactor: true,
    projectRoles: [],
  },
  {
    userId: 2,
    email: "grace@example.com",
    name: "Grace Hopper",
    role: "admin",
    joinedAt: ago(60),
    twoFactor: true,
    projectRoles: [],
  },
  {
    userId: 3,
    email: "alan.mathison.turing@a-rather-long-department-name.example.org",
    name: "Alan Turing",
    role: "user",
    joinedAt: ago(12),
    twoFactor: false,
    projectRoles: [{ projectId: projects[1].id, role: "readonly" }],
  },
  {
    userId: 4,
    email: "joan@example.com",
    name: "",
    role: "readonly",
    joinedAt: ago(0.1),
    twoFactor: false,
    projectRoles: [],
  },
];
let invitations = [
  {
    id: 11,
    email: "edsger@example.com",
    role: "user",
    inviterName: "Ada Byron",
    createdAt: ago(1),
    expiresAt: ahead(6),
  },
  {
    id: 12,
    email: "barbara@example.com",
    role: "admin",
    inviterName: "Ada Byron",
    createdAt: ago(6.5),
    expiresAt: ahead(0.5),
  },
];
let tokens = [
  {
    id: 1,
    name: "deploy script",
    prefix: "twp_3f9a",
    scopes: ["read", "write"],
    createdAt: ago(40),
    expiresAt: ahead(50),
    lastUsedAt: ago(0.01),
  },
  {
    id: 2,
    name: "old laptop",
    prefix: "twp_77c1",
    scopes: ["read", "write"],
    createdAt: ago(400),
    expiresAt: ago(35),
    lastUsedAt: ago(90),
  },
  {
    id: 3,
    name: "grafana",
    prefix: "twp_b00b",
    scopes: ["read"],
    createdAt: ago(3),
    expiresAt: null,
    lastUsedAt: null,
  },
];
const session_ = (id: number, current: boolean, userAgent: string, address: string, days: number) => ({
  id,
  current,
  userAgent,
  address,
  createdAt: ago(days),
  lastSeenAt: ago(days / 100),
  expiresAt: ahead(7 - days),
});
let sessions = [
  session_(1, true, "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "192.0.2.7", 1),
  session_(2, false, "curl/8.9.1", "203.0.113.40", 3),
];
let grants = [
  {
    id: "g1",
    clientName: "Command line",
    clientId: "traceway-cli",
    scopes: ["read", "write"],
    createdAt: ago(9),
    lastUsedAt: ago(0.002),
  },
  { id: "g2", clientName: "Cursor", clientId: "c_8f1d", scopes: ["read"], createdAt: ago(2), lastUsedAt: null },
];
const two = {
  totp: false,
  recoveryCodesLeft: 0,
  passkeys: [{ id: "p1", name: "Work laptop", createdAt: ago(30), lastUsedAt: ago(1) }],
};
const codes = () => ({
  recoveryCodes: Array.from({ length: 10 }, (_, i) => `${(i + 11) * 317}a-b${(i + 3) * 211}c-${(i + 7) * 131}de`),
});
const settings = { name: "Acme", timezone: "Europe/Berlin", requireTwoFactor: false };
const ACTIONS = ["member.role_changed", "invitation.created", "project.token_rotated", "login", "two_factor.enabled"];
const audit = Array.from({ length: 120 }, (_, i) => ({
  id: 1000 - i,
  at: iso(now - i * 3_700_000),
  actor: i % 9 === 8 ? null : { id: members[i % 4].userId, email: members[i % 4].email },
  action: ACTIONS[i % ACTIONS.length],
  target: ["alan@example.com", "edsger@example.com", "shop", "", ""][i % 5],
  ip: i % 7 ? `10.0.0.${i % 250}` : "2001:db8:85a3:8d3:1319:8a2e:370:7348",
  userAgent: "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
  detail: i % 5 === 0 ? { from: "readonly", to: "user" } : {},
}));
const QR =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 29 29" shape-rendering="crispEdges"><path d="M0 0h7v7h-7zM22 0h7v7h-7zM0 22h7v7h-7zM9 2h2v3h-2zM13 8h4v2h-4zM9 12h3v5h-3zM18 14h5v2h-5zM12 20h6v3h-6zM22 24h4v3h-4z"/></svg>';

const INVITED = {
  email: "edsger@example.com",
  organizationName: "Acme",
  inviterName: "Ada Byron",
  existsAsUser: false,
  role: "user",
};
const INVITATIONS: Record<string, unknown> = {
  new: INVITED,
  existing: { ...INVITED, existsAsUser: true },
  mine: { ...INVITED, email: "ada@example.com", existsAsUser: true, role: "readonly" },
  over: new Refused(410, "the invitation has expired"),
};
const DEVICES: Record<string, unknown> = {
  "WDJB-MJHT": {
    user_code: "WDJB-MJHT",
    status: "pending",
    clientName: "Command line",
    address: "203.0.113.7",
    requestedAt: ago(0.001),
    expiresAt: ahead(0.006),
  },
  "DONE-DONE": {
    user_code: "DONE-DONE",
    status: "approved",
    clientName: "Command line",
    requestedAt: ago(0.001),
    expiresAt: ahead(0.006),
  },
  "OVER-OVER": new Refused(410, "the code has expired"),
};

function wrong(body: Body): Refused | null {
  return body.password === "wrong" || body.currentPassword === "wrong" ? new Refused(401, "wrong password") : null;
}

export const PEOPLE: [string, Handler][] = [
  [
    "POST /api/login",
    (body) => {
      if (body.email === "slow@example.com") return new Refused(429, "too many requests", 12);
      if (body.email === "mfa@example.com")
        return { mfaRequired: true, mfaToken: "m", methods: ["totp", "passkey", "recovery"] };
      return wrong(body) ?? session();
    },
  ],
  ["POST /api/login/mfa", (body) => (body.code === "000000" ? new Refused(401, "wrong code") : session())],
  [
    "GET /api/auth/providers",
    () => ({
      password: true,
      registration: false,
      passkeys: true,
      providers: [
        { id: "google", name: "Google" },
        { id: "oidc", name: "Acme SSO" },
      ],
    }),
  ],
  ["POST /api/auth/finish-setup", () => ({ ...session(), project: projects[1] })],
  ["POST /api/forgot-password", () => ({ message: "sent" })],
  [
    "GET /api/password-reset",
    (_b, _u, _p, linkToken) => (linkToken === "over" ? { valid: false } : { valid: true, email: "ada@example.com" }),
  ],
  ["POST /api/password-reset", () => ({ message: "set" })],
  ["GET /api/invitation", (_b, _u, _p, linkToken) => INVITATIONS[linkToken] ?? new Refused(404, "no such invitation")],
  ["POST /api/invitation/accept", session],
  ["POST /api/invitation/accept-existing", () => ({ message: "joined" })],
  ["GET /api/me/login-bundle", bundle],
  ["PUT /api/me", (body) => Object.assign(user, body)],
  ["PUT /api/me/password", (body) => wrong(body) ?? { token: "mock" }],
  ["POST /api/me/sessions/revoke", () => ({ token: "mock" })],
  ["GET /api/me/sessions", () => sessions],
  [
    "DELETE /api/me/sessions/:id",
    (_b, _u, parts) => {
      sessions = sessions.filter((one) => String(one.id) !== parts[4]);
      return { status: "ended" };
    },
  ],
  ["POST /api/me/logout", () => ({ status: "ok" })],
  ["GET /api/me/two-factor", () => ({ ...two })],
  [
    "POST /api/me/two-factor/totp",
    (body) =>
      wrong(body) ?? {
        secret: "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP",
        uri: "otpauth://totp/Tidewatch:ada@example.com?secret=JBSWY3DPEHPK3PXP",
        qrSvg: QR,
      },
  ],
  [
    "POST /api/me/two-factor/totp/confirm",
    (body) => {
      if (body.code === "000000") return new Refused(400, "wrong code");
      Object.assign(two, { totp: true, recoveryCodesLeft: 10 });
      return codes();
    },
  ],
  ["DELETE /api/me/two-factor/totp", (body) => wrong(body) ?? { status: "ok", ...Object.assign(two, { totp: false }) }],
  ["POST /api/me/two-factor/recovery-codes", (body) => wrong(body) ?? codes()],
  [
    "PUT /api/me/passkeys/:id",
    (body, _u, parts) => {
      two.passkeys = two.passkeys.map((one) => (one.id === parts[4] ? { ...one, name: String(body.name) } : one));
      return { status: "renamed" };
    },
  ],
  [
    "DELETE /api/me/passkeys/:id",
    (body, _u, parts) => {
      if (wrong(body)) return wrong(body);
      two.passkeys = two.passkeys.filter((one) => one.id !== parts[4]);
      return { status: "ok" };
    },
  ],
  ["GET /api/personal-access-tokens", () => tokens],
  [
    "POST /api/personal-access-tokens",
    (body) => {
      const days = body.expiresInDays as number | undefined;
      const made = {
        id: tokens.length + 9,
        name: String(body.name),
        prefix: "twp_a1b2",
        scopes: body.scopes as string[],
        projectIds: body.projectIds ?? null,
        createdAt: iso(Date.now()),
        expiresAt: days ? ahead(days) : null,
        lastUsedAt: null,
      };
      tokens = [made as (typeof tokens)[number], ...tokens];
      return { ...made, token: "twp_a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718" };
    },
  ],
  [
    "DELETE /api/personal-access-tokens/:id",
    (_b, _u, parts) => {
      tokens = tokens.filter((one) => String(one.id) !== parts[3]);
      return { status: "ok" };
    },
  ],
  ["GET /api/me/grants", () => grants],
  [
    "DELETE /api/me/grants/:id",
    (_b, _u, parts) => {
      grants = grants.filter((one) => one.id !== parts[4]);
      return { status: "ok" };
    },
  ],
  [
    "POST /api/organizations",
    (body) => {
      const made = { id: organizations.length + 1, name: String(body.name), role: "owner", timezone: "UTC" };
      organizations.push(made);
      return made;
    },
  ],
  ["GET /api/organizations/:id/settings", () => settings],
  ["PUT /api/organizations/:id/settings", (body) => Object.assign(settings, body)],
  ["GET /api/organizations/:id/members", () => members],
  [
    "PUT /api/organizations/:id/members/:user",
    (body, _u, parts) => {
      members = members.map((one) => (String(one.userId) === parts[5] ? { ...one, role: String(body.role) } : one));
      return { status: "ok" };
    },
  ],
  [
    "DELETE /api/organizations/:id/members/:user",
    (_b, _u, parts) => {
      members = members.filter((one) => String(one.userId) !== parts[5]);
      return { status: "ok" };
    },
  ],
  [
    "PUT /api/organizations/:id/members/:user/project-roles",
    (body, _u, parts) => {
      members = members.map((one) =>
        String(one.userId) === parts[5] ? { ...one, projectRoles: body.projectRoles as typeof one.projectRoles } : one,
      );
      return { status: "ok" };
    },
  ],
  ["GET /api/organizations/:id/invitations", () => invitations],
  [
    "POST /api/organizations/:id/invitations",
    (body) => {
      if (members.some((one) => one.email === body.email))
        return new Refused(409, "there is a member with this e-mail already");
      invitations = [
        {
          id: Date.now(),
          email: String(body.email),
          role: String(body.role),
          inviterName: "Ada Byron",
          createdAt: iso(Date.now()),
          expiresAt: ahead(7),
        },
        ...invitations,
      ];
      return { message: "sent" };
    },
  ],
  [
    "DELETE /api/organizations/:id/invitations/:invitation",
    (_b, _u, parts) => {
      invitations = invitations.filter((one) => String(one.id) !== parts[5]);
      return { status: "ok" };
    },
  ],
  [
    "GET /api/organizations/:id/audit",
    (_b, url) => {
      const of = (name: string) => url.searchParams.get(name);
      const rows = audit.filter(
        (row) =>
          (!of("action") || row.action.includes(of("action") as string)) &&
          (!of("userId") || String(row.actor?.id) === of("userId")) &&
          (!of("before") || row.id < Number(of("before"))),
      );
      const limit = Number(of("limit") ?? 50);
      return { data: rows.slice(0, limit), next: rows.length > limit ? rows[limit - 1].id : null };
    },
  ],
  ["GET /api/organizations/:id/audit/export", () => audit.slice(0, 3)],
  [
    "GET /api/organizations/:id/sso",
    () => ({
      passwordLogin: true,
      providers: [
        {
          id: "oidc",
          name: "Acme SSO",
          enabled: true,
          issuer: "https://sso.acme.example/realms/main",
          clientId: "tidewatch",
          autoCreate: true,
          roleClaim: "groups",
          roleMap: { "platform-admins": "admin", everyone: "readonly" },
        },
        { id: "google", name: "Google", enabled: false, issuer: null, clientId: null, autoCreate: false },
      ],
    }),
  ],
  ["POST /api/projects/token", () => ({ token: "ffff51e07ab94c0f8d1e3a7b6c5d4e3f" })],
  ["POST /api/projects/source-map-token", () => ({ token: "abcd51e07ab94c0f8d1e3a7b6c5d4e3f" })],
  [
    "DELETE /api/projects",
    (body) => (body.name === projects[0].name ? { status: "ok" } : new Refused(400, "the name does not match")),
  ],
  [
    "GET /api/device",
    (_b, url) => DEVICES[url.searchParams.get("user_code") ?? ""] ?? new Refused(404, "no such code"),
  ],
  ["POST /api/device/approve", () => ({ status: "approved" })],
  ["POST /api/device/deny", () => ({ status: "denied" })],
  [
    "GET /api/oauth/client",
    (_b, url) =>
      url.searchParams.get("client_id") === "c1"
        ? { clientId: "c1", clientName: "Cursor", redirectUri: url.searchParams.get("redirect_uri") }
        : new Refused(400, "no client has this id"),
  ],
  ["POST /api/oauth/approve", (body) => ({ redirectTo: `${body.redirect_uri}?code=twa_1&state=${body.state}` })],
  ["POST /api/oauth/deny", (body) => ({ redirectTo: `${body.redirect_uri}?error=access_denied&state=${body.state}` })],
];
