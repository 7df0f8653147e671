// The account of the mock: one person, two projects, one organization.
import type * as t from "../../src/model/types";
import { boot, iso } from "./common.ts";
import { PROJECT } from "./trace.ts";

export const user = {
  id: 1,
  email: "ada@example.com",
  name: "Ada Byron",
  createdAt: iso(boot - 9e9),
  timezone: "",
  theme: "system",
  twoFactor: false,
  emailVerified: true,
};

const settings = {
  keepUnmatchedRoots: false,
  aiConventions: false,
  allMetricKinds: false,
  sessionRecordings: true,
  sourceUrl: "",
  sourceRoot: "",
  issuesFromLogs: false,
  sampleRate: 1,
  errorSampleRate: 1,
  dropHealthyHealthchecks: false,
  healthcheckPaths: [],
  profileLabelAllowlist: [],
  aiFlaggedLanguages: [],
  aiFlaggedTerms: [],
  retentionDays: 0,
  dailyBytesMax: 0,
  dailyRecordsMax: 0,
  recordsPerSecondMax: 0,
  allowedOrigins: [],
};

export const projects: t.Project[] = [
  {
    id: PROJECT,
    name: "shop",
    token: "9f2c51e07ab94c0f8d1e3a7b6c5d4e3f",
    framework: "opentelemetry",
    organizationId: 1,
    createdAt: iso(boot - 9e9),
    backendUrl: "",
    role: "owner",
    demo: false,
    settings,
  },
  {
    id: "1c1d2e3f-1111-5222-8333-944455556666",
    name: "empty project",
    token: "00c51e07ab94c0f8d1e3a7b6c5d4e3ff",
    framework: "opentelemetry",
    organizationId: 1,
    createdAt: iso(boot - 9e8),
    backendUrl: "",
    role: "owner",
    demo: false,
    settings: { ...settings },
  },
];

export const organizations = [{ id: 1, name: "Acme", role: "owner", timezone: "UTC" }];
