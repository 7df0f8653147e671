// An issue as Markdown, to paste into a ticket or a chat.
import { count, plural } from "./format";
import { STATE_WORDS } from "./issue-state";
import type { IssueDetail } from "./types";

/** A fence that is longer than every run of backticks in the text. */
function fence(text: string): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  return "`".repeat(Math.max(3, longest + 1));
}

function code(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  const ticks = fence(line).slice(0, line.includes("`") ? undefined : 1);
  return line.includes("`") ? `${ticks} ${line} ${ticks}` : `${ticks}${line}${ticks}`;
}

/** `stack`: the stack trace as shown. `url`: the address of the issue. */
export function issueMarkdown(
  detail: Pick<IssueDetail, "group" | "occurrences" | "commit">,
  stack: string,
  url: string,
): string {
  const { group } = detail;
  const occurrence = detail.occurrences[0];
  const versions = [...new Set([group.firstVersion, group.lastVersion].filter(Boolean))];
  const facts: [string, string][] = [
    ["Message", group.message && code(group.message)],
    ["State", STATE_WORDS[group.state]],
    ["Events", `${plural(group.count, "event")}${group.users ? `, ${count(group.users)} users` : ""}`],
    ["First seen", group.firstOccurrence],
    ["Last seen", group.lastSeen],
    ["Versions", versions.map(code).join(" to ")],
    ["Commit", detail.commit && code(detail.commit)],
    ["Where", group.ownerName && code(group.ownerName)],
    ["Service", occurrence?.serverName ? code(occurrence.serverName) : ""],
    ["Trace", occurrence?.traceId ? code(occurrence.traceId) : ""],
  ];
  const lines = facts.filter(([, value]) => value).map(([name, value]) => `- ${name}: ${value}`);
  const ticks = fence(stack);
  return [
    `## ${code(group.exceptionType || group.title)}`,
    lines.join("\n"),
    `${ticks}\n${stack.trimEnd()}\n${ticks}`,
    `<${url}>`,
    "",
  ]
    .join("\n\n")
    .trimEnd();
}
