// A conversation as bubbles by role, with folded tool calls and results and code in boxes. Text only, never HTML.
import { Bot, ChevronRight, CircleUser, ScrollText, Wrench } from "lucide-react";
import { prettyJson, splitFences } from "../../model/content";
import { count } from "../../model/format";
import type { Message, Conversation as Talk, ToolCall } from "../../model/types";
import { CopyButton } from "../../ui/Copy";
import { LongText } from "../LongText";

const ROLES: Record<string, { word: string; icon: typeof Bot; look: string }> = {
  system: { word: "System", icon: ScrollText, look: "bg-panel border-line" },
  developer: { word: "Developer", icon: ScrollText, look: "bg-panel border-line" },
  user: { word: "User", icon: CircleUser, look: "bg-accentsoft border-transparent" },
  assistant: { word: "Assistant", icon: Bot, look: "bg-bg border-line" },
  model: { word: "Assistant", icon: Bot, look: "bg-bg border-line" },
  tool: { word: "Tool result", icon: Wrench, look: "bg-panel border-line border-dashed" },
  function: { word: "Tool result", icon: Wrench, look: "bg-panel border-line border-dashed" },
};

/** `terms`: terms of the word lists, marked where people or the model wrote them. */
export function Conversation({ talk, terms }: { talk: Talk; terms?: string[] }) {
  return (
    <ol className="space-y-3" aria-label="Conversation">
      {talk.messages.map((message, i) => (
        <Bubble key={i} message={message} terms={terms} />
      ))}
    </ol>
  );
}

/** The server does not search these: who runs the application wrote them. */
const isOperator = (role: string) => role === "system" || role === "developer";

interface BubbleProps {
  message: Message;
  /** A remark below its content. */
  note?: string;
  /** Terms that are marked. */
  terms?: string[];
}

export function Bubble({ message, note, terms: all }: BubbleProps) {
  const terms = isOperator(message.role) ? undefined : all;
  const role = ROLES[message.role] ?? {
    word: message.role || "Message",
    icon: ScrollText,
    look: "bg-panel border-line",
  };
  const Icon = role.icon;
  const folded =
    (message.role === "tool" || message.role === "function" || message.role === "system") &&
    message.content.length > 400;
  return (
    <li className={`max-w-3xl rounded-panel border px-3 py-2 ${role.look} ${message.role === "user" ? "ml-auto" : ""}`}>
      <div className="mb-1 flex items-center gap-1.5 text-caption text-ink2">
        <Icon size={13} aria-hidden />
        <span className="font-semibold">{role.word}</span>
        <span>{count(message.content.length)} characters</span>
        <span className="flex-1" />
        <CopyButton text={message.content} label={`Copy the ${role.word.toLowerCase()} message`} />
      </div>
      {folded ? (
        <details>
          <summary className="text-ink2">{message.content.slice(0, 160)}…</summary>
          <Content text={message.content} terms={terms} />
        </details>
      ) : (
        <Content text={message.content} terms={terms} />
      )}
      {message.toolCalls?.map((call, i) => (
        <Call key={i} call={call} />
      ))}
      {note && <p className="mt-1 text-caption text-ink2">{note}</p>}
    </li>
  );
}

interface TextProps {
  text: string;
  terms?: string[];
}

function Content({ text, terms }: TextProps) {
  const json = prettyJson(text);
  if (json !== text) return <Code text={json} terms={terms} />;
  return splitFences(text).map((piece, i) =>
    piece.kind === "code" ? (
      <Code key={i} text={piece.text} terms={terms} />
    ) : (
      <p key={i}>
        <LongText text={piece.text.trim()} terms={terms} />
      </p>
    ),
  );
}

function Code({ text, terms }: TextProps) {
  return (
    <pre
      className="my-1 max-h-96 overflow-auto rounded-control border border-line bg-panel p-2 font-mono text-dense"
      tabIndex={0}
    >
      <LongText text={text} terms={terms} />
    </pre>
  );
}

function Call({ call }: { call: ToolCall }) {
  return (
    <details className="group mt-1 rounded-control border border-line bg-panel">
      <summary className="flex list-none items-center gap-1.5 px-2 py-1 text-dense">
        <ChevronRight size={13} aria-hidden className="transition-transform group-open:rotate-90" />
        <Wrench size={13} aria-hidden className="text-ink2" />
        calls <span className="font-mono font-semibold">{call.name ?? "a tool"}</span>
      </summary>
      <pre className="overflow-auto border-line border-t p-2 font-mono text-dense" tabIndex={0}>
        <LongText text={prettyJson(call.arguments ?? "")} />
      </pre>
    </details>
  );
}
