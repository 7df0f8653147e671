// Accounts in the words of the HTTP API, until docs/openapi.json knows these routes: then each becomes a name for a
// generated schema, like those in types.ts.
import type { Role } from "../model/roles";
import type { Scope } from "../model/scopes";
import type { Bundle, Project, ProjectChange } from "./types";

export type ThemePreference = "system" | "light" | "dark";

export type User = Bundle["user"] & {
  /** IANA name; absent or empty: the browser's. */
  timezone?: string | null;
  theme?: ThemePreference | null;
  twoFactor?: boolean;
  emailVerified?: boolean;
};
export type People = Omit<Bundle, "user" | "projects"> & { user: User; projects: ProjectExtra[] };
/** What signing in gives; after registering, the first project comes along. */
export type SignedIn = People & { token: string; project?: ProjectExtra };

/** `password` and `email` prove an account that a provider is linked to. */
export type SecondStep = "totp" | "passkey" | "recovery" | "password" | "email";
export interface MfaRequired {
  mfaRequired: true;
  mfaToken: string;
  methods: SecondStep[];
}

export interface Providers {
  password: boolean;
  registration: boolean;
  /** Absent: this server has none. */
  passkeys?: boolean;
  providers: { id: string; name: string }[];
}

export interface Challenge<Options> {
  challengeId: string;
  /** Some servers wrap the options as `navigator.credentials` takes them. */
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
  /** The highest and those it contains. */
  scopes: Scope[];
  /** Null: all of one's projects. */
  projectIds?: string[] | null;
  createdAt: string;
  expiresAt?: string | null;
  lastUsedAt?: string | null;
}
export interface Session {
  id: number;
  /** The one of this browser. */
  current: boolean;
  userAgent: string;
  /** Where it was last seen. */
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
  /** What it asks for, between spaces. */
  scope: string;
  /** Where the device asked from. */
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
