// Shell commands that upload symbols. Names and ids come from stack traces and are untrusted: only plain names are
// inserted into a command.
import type { RawForm } from "./raw-stack";
import type { Platform } from "./symbol-kinds";
import type { MissingSymbols } from "./types";

export interface Command {
  label: string;
  code: string;
}

const AUTH = '-H "Authorization: Bearer $UPLOAD_TOKEN"';

/** One argument per line, so that it is readable on phones. */
function curl(url: string, parts: string[]): string {
  return [`curl ${AUTH}`, ...parts.map((part) => `  -F "${part}"`), `  ${url}`].join(" \\\n");
}

/** Returns `text` if it is safe in double quotes and in curl's -F without escapes. */
export function plainName(text: string | undefined, otherwise: string): string {
  return text && /^[\p{L}\p{N}_.@+~ -]{1,200}$/u.test(text) && !text.startsWith(".") ? text : otherwise;
}

function hexId(text: string): string {
  return /^[0-9a-f-]{1,64}$/i.test(text) ? text : "";
}

export interface Context {
  /** The server's address, without a trailing slash. */
  address: string;
  /** Form of the raw trace. */
  form?: RawForm;
  /** Name of the binary, if the frames contain it. */
  image?: string;
  os?: string;
  /** Framework in the project's settings. */
  framework?: string;
}

/** Commands that upload the missing file; more than one if the platform is unknown. */
export function commandsFor(missing: MissingSymbols, context: Context): Command[] {
  const at = `${context.address}/api/symbols/upload`;
  if (missing.kind === "source_map") return [{ label: "JavaScript", code: sourceMap(missing, context.address) }];
  if (missing.kind === "mapping")
    return [{ label: "Android (R8)", code: mapping(at, hexId(missing.debugId) || "$UUID", missing.version) }];
  const all = {
    ios: { label: "iOS", code: dsym(at, plainName(context.image, "MyApp")) },
    dart: { label: "Flutter", code: dart(at, plainName(context.os, "android"), plainName(missing.name, "arm64")) },
    native: { label: "Native code", code: elf(at, plainName(context.image, "libapp.so")) },
  };
  return platforms(missing, context).map((platform) => all[platform]);
}

type Native = "ios" | "dart" | "native";

function platforms({ debugId }: MissingSymbols, { form, framework = "" }: Context): Native[] {
  if (form === "ios" || form === "dart" || form === "native") return [form];
  if (!debugId || framework === "flutter") return ["dart"];
  if (framework === "ios") return ["ios"];
  // Build ids of GNU linkers have 40 digits, others 32.
  return debugId.length === 32 ? ["ios", "dart"] : ["native", "dart"];
}

function dsym(at: string, app: string): string {
  return curl(at, [`files=@${app}.app.dSYM/Contents/Resources/DWARF/${app}`]);
}
function dart(at: string, os: string, arch: string): string {
  return curl(at, [`files=@symbols/app.${os}-${arch === "unknown" ? "arm64" : arch}.symbols`]);
}
function elf(at: string, file: string): string {
  return curl(at, [`files=@${file}`]);
}
/** The form field of the version, if the traces name one. */
function versionField(version?: string | null): string[] {
  return version ? [`version=${plainName(version, "$VERSION")}`] : [];
}
function mapping(at: string, id: string, version?: string | null): string {
  return curl(at, [
    `proguard_uuid=${id}`,
    ...versionField(version),
    "files=@app/build/outputs/mapping/release/mapping.txt",
  ]);
}
function sourceMap({ name, version }: MissingSymbols, address: string): string {
  const file = plainName(name, "app.js");
  const isScript = /\.[cm]?js$/i.test(file);
  const folder = isScript ? "dist/" : "";
  return curl(`${address}/api/sourcemaps/upload`, [
    ...versionField(version),
    ...(isScript ? [`files=@${folder}${file}`] : []),
    `files=@${folder}${file}.map`,
  ]);
}

export interface UploadGuide {
  key: Platform;
  label: string;
  /** Preparation, and a description of the file. */
  words: string;
  code: string;
  /** The same upload with the server's binary, which searches a folder. */
  cli: string;
}

/** Commands that produce and upload the symbols of each platform. */
export function uploadGuides(address: string): UploadGuide[] {
  const at = `${address}/api/symbols/upload`;
  const cli = (what: string) =>
    `TIDEWATCH_URL=${address} TIDEWATCH_UPLOAD_TOKEN=$UPLOAD_TOKEN \\\n  tidewatch symbols upload ${what}`;
  return [
    {
      key: "web",
      label: "Web and Node.js",
      words:
        "Let the bundler write source maps, and upload scripts and maps of every build, under their own names and with the version that the app reports as service.version.",
      code: `curl ${AUTH} \\\n  -F "version=$VERSION" \\\n  $(printf -- '-F files=@%s ' dist/*.js dist/*.js.map) \\\n  ${address}/api/sourcemaps/upload`,
      cli: cli(`dist --version "$VERSION"`),
    },
    {
      key: "ios",
      label: "iOS",
      words: "The binary inside the dSYM of the archived build. Architectures and UUIDs are read from it.",
      code: dsym(at, "MyApp"),
      cli: cli("build/MyApp.xcarchive/dSYMs"),
    },
    {
      key: "flutter",
      label: "Flutter",
      words: "Build with --split-debug-info, and upload one file per architecture.",
      code: `flutter build apk --split-debug-info=symbols\n${dart(at, "android", "arm64")}`,
      cli: cli("symbols"),
    },
    {
      key: "android",
      label: "Android",
      words: "The mapping that R8 wrote, under the id that the app reports as app.debug.proguard_uuid.",
      code: mapping(at, "$UUID"),
      cli: cli("app/build/outputs/mapping/release --proguard-uuid $UUID"),
    },
    {
      key: "native",
      label: "Native code",
      words: "The library or program before it was stripped, linked with --build-id.",
      code: elf(at, "libapp.so"),
      cli: cli("libapp.so"),
    },
  ];
}

/** Key of the project's platform, which is listed first. */
export function platformOf(framework: string): Platform {
  if (framework === "ios" || framework === "flutter" || framework === "android") return framework;
  return "web";
}

/** Formats 32 digits as a UUID, like Apple's tools. */
export function appleUuid(id: string): string {
  return id.length === 32 ? id.toUpperCase().replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5") : id;
}
