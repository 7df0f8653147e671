// The types of channels with the fields of their forms (docs/use/notifications.md).

/** A configuration as the API has it. */
export type ChannelConfig = Record<string, unknown>;

export interface ChannelField {
  key: string;
  label: string;
  hint?: string;
  placeholder?: string;
  /** "list": one value a line. "pairs": "Name: value" lines. "policy": an escalation policy. Default: one line. */
  kind?: "secret" | "list" | "pairs" | "number" | "switch" | "choice" | "policy";
  choices?: { value: string; label: string }[];
  required?: boolean;
  /** Shown only if it is true of the form's values. */
  when?: (values: FormValues) => boolean;
}

/** What the fields of a form contain. */
export type FormValues = Record<string, string | boolean>;

const ADDRESS = "https://…";
const isEmergency = (values: FormValues) => values.priority === "2";

export const CHANNEL_TYPES = {
  email: {
    label: "E-mail",
    help: "Each recipient gets a mail with a chart. The server needs a mail server (SMTP_HOST).",
    fields: [
      {
        key: "recipients",
        label: "Recipients",
        hint: "One address a line, at most ten.",
        kind: "list",
        required: true,
      },
    ],
  },
  webhook: {
    label: "Webhook",
    help: "A JSON body is sent to your address. With a secret it is signed: X-Traceway-Signature and webhook-signature.",
    fields: [
      { key: "url", label: "Address", placeholder: ADDRESS, required: true },
      {
        key: "method",
        label: "Method",
        kind: "choice",
        choices: [
          { value: "POST", label: "POST" },
          { value: "PUT", label: "PUT" },
        ],
      },
      { key: "secret", label: "Secret", hint: "Signs each body (HMAC-SHA256). Empty: no signature.", kind: "secret" },
      { key: "headers", label: "Own headers", hint: "One a line: Authorization: Bearer …", kind: "pairs" },
    ],
  },
  slack: {
    label: "Slack",
    help: "Add the app Incoming Webhooks to your workspace, choose a channel, and copy the webhook URL.",
    fields: [
      { key: "webhookUrl", label: "Webhook URL", kind: "secret", required: true },
      { key: "channel", label: "Another channel", hint: "Only webhooks of older workspaces follow it: #ops." },
      { key: "username", label: "Name of the sender", hint: "Only webhooks of older workspaces follow it." },
    ],
  },
  teams: {
    label: "Microsoft Teams",
    help: "In the channel, open Workflows, choose “Send webhook alerts to a channel”, and copy the URL.",
    fields: [{ key: "webhookUrl", label: "Workflow URL", kind: "secret", required: true }],
  },
  discord: {
    label: "Discord",
    help: "In the settings of the channel, open Integrations, create a webhook, and copy its URL.",
    fields: [
      { key: "webhookUrl", label: "Webhook URL", kind: "secret", required: true },
      { key: "username", label: "Name of the sender" },
    ],
  },
  telegram: {
    label: "Telegram",
    help: "Create a bot with @BotFather, add it to the chat, and copy its token.",
    fields: [
      { key: "botToken", label: "Token of the bot", kind: "secret", required: true },
      { key: "chatId", label: "Chat", hint: "Its id, such as -1001234567890, or @channel.", required: true },
      { key: "apiUrl", label: "Own Bot API server", hint: "Empty: https://api.telegram.org." },
    ],
  },
  github: {
    label: "GitHub issue",
    help: "An alert creates an issue. When it ends, the issue gets a comment and is closed.",
    fields: [
      {
        key: "token",
        label: "Token",
        hint: "A fine-grained token with write access to the repository’s issues.",
        kind: "secret",
        required: true,
      },
      { key: "owner", label: "Owner", placeholder: "acme", required: true },
      { key: "repo", label: "Repository", placeholder: "shop", required: true },
      { key: "labels", label: "Labels", hint: "One a line.", kind: "list" },
      { key: "apiUrl", label: "GitHub Enterprise Server", hint: "Address of its API. Empty: https://api.github.com." },
    ],
  },
  pushover: {
    label: "Pushover",
    help: "Create an application on pushover.net, and copy its token and your user or group key.",
    fields: [
      { key: "userKey", label: "User or group key", kind: "secret", required: true },
      { key: "appToken", label: "Token of the application", kind: "secret", required: true },
      {
        key: "priority",
        label: "Priority",
        kind: "choice",
        choices: [
          { value: "0", label: "Normal" },
          { value: "1", label: "High: past quiet hours" },
          { value: "2", label: "Emergency: until acknowledged" },
        ],
      },
      { key: "retry", label: "Repeat every, seconds", hint: "At least 30.", kind: "number", when: isEmergency },
      { key: "expire", label: "Stop after, seconds", hint: "At most 10,800.", kind: "number", when: isEmergency },
      {
        key: "callback",
        label: "Callback",
        hint: "An address that is called when it is acknowledged.",
        when: isEmergency,
      },
      { key: "device", label: "Device", hint: "Empty: all." },
      { key: "sound", label: "Sound", hint: "Empty: as the user has set." },
      {
        key: "ttl",
        label: "Delete after, seconds",
        hint: "Empty: never.",
        kind: "number",
        when: (values) => !isEmergency(values),
      },
      { key: "html", label: "Send as HTML", kind: "switch" },
    ],
  },
  pagerduty: {
    label: "PagerDuty",
    help: "Add the integration Events API V2 to a service. An alert triggers an incident, and its end resolves it.",
    fields: [
      { key: "routingKey", label: "Integration key", kind: "secret", required: true },
      { key: "apiUrl", label: "Another region", hint: "Such as https://events.eu.pagerduty.com." },
    ],
  },
  opsgenie: {
    label: "Opsgenie",
    help: "Add an API integration to a team. An alert is created, and closed when it ends.",
    fields: [
      { key: "apiKey", label: "API key", kind: "secret", required: true },
      { key: "apiUrl", label: "Another region", hint: "Such as https://api.eu.opsgenie.com." },
    ],
  },
  escalation: {
    label: "Escalation policy",
    help: "Each alert starts the policy, which pages the people on call.",
    fields: [{ key: "policyId", label: "Policy", kind: "policy", required: true }],
  },
} satisfies Record<string, { label: string; help: string; fields: ChannelField[] }>;

export type ChannelType = keyof typeof CHANNEL_TYPES;

export const TYPE_NAMES = Object.keys(CHANNEL_TYPES) as ChannelType[];

/** The fields of a type. */
export function fieldsOf(type: ChannelType): ChannelField[] {
  return CHANNEL_TYPES[type].fields;
}

/** A configuration as the fields of a form show it. */
export function toForm(type: ChannelType, config: ChannelConfig): FormValues {
  const values: FormValues = {};
  for (const { key, kind, choices } of fieldsOf(type)) {
    const value = config[key];
    if (kind === "list") values[key] = Array.isArray(value) ? value.join("\n") : "";
    else if (kind === "pairs")
      values[key] = Object.entries(value ?? {})
        .map((pair) => pair.join(": "))
        .join("\n");
    else if (kind === "switch") values[key] = value === true;
    else
      values[key] = value === undefined || value === null || value === "" ? (choices?.[0].value ?? "") : String(value);
  }
  return values;
}

/** The configuration that the fields of a form contain, or what is wrong with a field. */
export function fromForm(type: ChannelType, values: FormValues): { config: ChannelConfig } | { error: string } {
  const config: ChannelConfig = {};
  for (const field of fieldsOf(type)) {
    if (field.when && !field.when(values)) continue;
    const { key, kind, label } = field;
    const value = values[key];
    if (typeof value === "boolean") {
      config[key] = value;
      continue;
    }
    const lines = (value ?? "")
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean);
    if (field.required && lines.length === 0) return { error: `${label} is missing.` };
    if (kind === "list") config[key] = lines;
    else if (kind === "pairs") {
      const pairs = lines.map((line) => /^([^:\s]+)\s*:\s*(.*)$/.exec(line));
      if (pairs.includes(null)) return { error: `${label}: a line is a name, a colon and a value.` };
      config[key] = Object.fromEntries(pairs.map((pair) => [pair?.[1], pair?.[2]]));
    } else if (kind === "number" || kind === "policy" || key === "priority") {
      if (lines[0] && !/^\d+$/.test(lines[0])) return { error: `${label} is a whole number.` };
      config[key] = lines[0] ? Number(lines[0]) : null;
    } else config[key] = lines[0] ?? "";
  }
  return { config };
}
