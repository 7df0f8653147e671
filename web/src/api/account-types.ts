// Types of the account routes of the HTTP API. They are written by hand until docs/openapi.json describes these routes;
// then each becomes an alias of a generated schema, as in model/types.ts.
import type { Role } from "../model/roles";
import type { Scope } from "../model/scopes";
import type { Bundle, Project, ProjectChange } from "../model/types";

export type ThemePreference = "system" | "light" | "dark";

export type User = Bundle["user"] & {
  /** IANA name; absent or empty means the browser's time zone. */
  timezone?: string | null;
  theme?: ThemePreference | null;
  twoFactor?: boolean;
  emailVerified?: boolean;
};
export type People = Omit<Bundle, "user" | "projects"> & { user: User; projects: ProjectExtra[] };
/** Response of a sign-in. After registration it includes the first project. */
export type SignedIn = People & { token: string; project?: ProjectExtra };

/** `password` and `email` verify the owner of an account before a provider is linked to it. */
export type SecondStep = "totp" | "passkey" | "recovery" | "password" | "email";
export interface MfaRequired {
  mfaRequired: true;
  mfaToken: string;
  methods: SecondStep[];
}

export interface Providers {
  password: boolean;
  registration: boolean;
  /** Absent: the server does not support passkeys. */
  passkeys?: boolean;
  providers: { id: string; name: string }[];
}

export interface Challenge<Options> {
  challengeId: string;
  /** Some servers wrap the options in the object that `navigator.credentials` expects. */
  options: Options | { publicKey: Options };
}

export interface Invitation {
  email: string;
  organizationName: string;
  inviterName: string;
  existsAsUser: boolean;
  role: string;
}

export interface TwoFactor {
  totp: boolean;
  recoveryCodesLeft: number;
  passkeys: Passkey[];
}
export interface Passkey {
  id: string | number;
  name: string;
  createdAt: string;
  lastUsedAt?: string | null;
}
export interface TotpSetup {
  secret: string;
  uri: string;
  qrSvg: string;
}

export interface AccessToken {
  id: string | number;
  name: string;
  prefix: string;
  /** The highest scope and the scopes that it contains. */
  scopes: Scope[];
  /** Null: all projects of the user. */
  projectIds?: string[] | null;
  createdAt: string;
  expiresAt?: string | null;
  lastUsedAt?: string | null;
}
export interface Session {
  id: number;
  /** True for the session of this browser. */
  current: boolean;
  userAgent: string;
  /** IP address at which the session was last seen. */
  address: string;
  createdAt: string;
  lastSeenAt: string;
  expiresAt: string;
}
export interface Grant {
  id: string | number;
  clientName: string;
  clientId: string;
  scopes: Scope[];
  projectIds?: string[] | null;
  createdAt: string;
  lastUsedAt?: string | null;
}

/** One organization and the role of the signed-in user in it. */
export interface Organization {
  id: number;
  name: string;
  role: Role;
}
export interface Member {
  userId: number;
  email: string;
  name: string;
  role: Role;
  joinedAt: string;
  twoFactor: boolean;
  projectRoles: ProjectRole[];
}
export interface ProjectRole {
  projectId: string;
  role: "user" | "readonly";
}
export interface PendingInvitation {
  id: number | string;
  email: string;
  role: string;
  inviterName: string;
  createdAt: string;
  expiresAt: string;
}
export interface OrganizationSettings {
  name: string;
  timezone: string;
  requireTwoFactor?: boolean;
}
export interface Sso {
  passwordLogin: boolean;
  providers: {
    id: string;
    name: string;
    enabled: boolean;
    issuer?: string | null;
    clientId?: string | null;
    autoCreate: boolean;
    roleClaim?: string | null;
    roleMap?: Record<string, string> | null;
  }[];
}
export interface AuditRow {
  id: number | string;
  at: string;
  actor: { id: number; email: string } | null;
  action: string;
  target?: unknown;
  ip?: string | null;
  userAgent?: string | null;
  detail?: Record<string, unknown> | null;
}
export interface AuditPage {
  data: AuditRow[];
  next?: string | number | null;
}

export interface DeviceRequest {
  user_code: string;
  status: string;
  clientName: string;
  /** Requested scopes, separated by spaces. */
  scope: string;
  /** IP address of the device's request. */
  address: string;
  requestedAt: string;
  expiresAt: string;
}
export interface OAuthClient {
  clientId: string;
  clientName: string;
  redirectUri: string;
}

export type ProjectExtra = Project & {
  previousTokenExpiresAt?: string | null;
  previousSourceMapTokenExpiresAt?: string | null;
};
export type ProjectChangeExtra = ProjectChange;
