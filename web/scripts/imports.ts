// Reads which other files a source file names: imports and exports of values and types, dynamic imports, and style sheets.
import ts from "typescript";

export interface SourceFile {
  /** Relative to `src`. */
  path: string;
  content: string;
}
export interface Import {
  specifier: string;
  line: number;
}
export interface FileImports {
  imports: Import[];
  /** Lines of imports whose target is computed. */
  computed: number[];
}

const IS_SCRIPT = /\.tsx?$/;
/** Calls of vitest whose first argument names a module. */
const MOCKS = new Set(["mock", "doMock", "unmock", "doUnmock", "importActual", "importMock"]);

/** Whether `importsOf` reads files of this name. */
export function isReadable(path: string): boolean {
  return IS_SCRIPT.test(path) || path.endsWith(".css");
}

export function importsOf({ path, content }: SourceFile): FileImports {
  return IS_SCRIPT.test(path) ? importsOfScript(path, content) : importsOfStyles(content);
}

function importsOfStyles(content: string): FileImports {
  const imports: Import[] = [];
  content.split("\n").forEach((line, index) => {
    const match = /^\s*@(?:import|reference|plugin|config)\s+(?:url\()?\s*["']([^"']+)["']/.exec(line);
    if (match) imports.push({ specifier: match[1], line: index + 1 });
  });
  return { imports, computed: [] };
}

function importsOfScript(path: string, content: string): FileImports {
  const kind = path.endsWith("x") ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const file = ts.createSourceFile(path, content, ts.ScriptTarget.Latest, false, kind);
  const found: FileImports = { imports: [], computed: [] };
  const visit = (node: ts.Node): void => {
    const target = importedBy(node, file);
    if (target) {
      const line = file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
      if (ts.isStringLiteralLike(target)) found.imports.push({ specifier: target.text, line });
      else found.computed.push(line);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  for (const { fileName } of file.referencedFiles) found.imports.push({ specifier: `./${fileName}`, line: 1 });
  return found;
}

/** The expression that names a module, if the node imports one. */
function importedBy(node: ts.Node, file: ts.SourceFile): ts.Node | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier;
  if (ts.isExternalModuleReference(node)) return node.expression;
  if (ts.isImportTypeNode(node)) return ts.isLiteralTypeNode(node.argument) ? node.argument.literal : node.argument;
  if (ts.isCallExpression(node)) return importedByCall(node, file);
  const isUrlOfModule = ts.isNewExpression(node) && node.arguments?.[1]?.getText(file) === "import.meta.url";
  return isUrlOfModule ? node.arguments[0] : undefined;
}

function importedByCall(call: ts.CallExpression, file: ts.SourceFile): ts.Node | undefined {
  const {
    expression,
    arguments: [first],
  } = call;
  if (expression.kind === ts.SyntaxKind.ImportKeyword) return first;
  if (ts.isIdentifier(expression)) return expression.text === "require" ? first : undefined;
  if (!ts.isPropertyAccessExpression(expression)) return undefined;
  const { name } = expression;
  // A pattern of files is not the name of one.
  if (name.text === "glob") return expression.expression.getText(file) === "import.meta" ? call : undefined;
  return MOCKS.has(name.text) && expression.expression.getText(file) === "vi" ? first : undefined;
}

const ENDINGS = ["", ".ts", ".tsx", ".d.ts", "/index.ts", "/index.tsx"];

/** The file below `src` that a relative specifier names; undefined if there is none. */
export function resolveImport(from: string, specifier: string, known: ReadonlySet<string>): string | undefined {
  const parts = from.split("/").slice(0, -1);
  for (const part of specifier.split("?")[0].split("/")) {
    if (part === "..") {
      if (parts.pop() === undefined) return undefined;
    } else if (part !== ".") parts.push(part);
  }
  const base = parts.join("/");
  return ENDINGS.map((ending) => base + ending).find((path) => known.has(path));
}
