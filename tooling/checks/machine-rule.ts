// What an engine may not touch: the clock, chance, timers, files, processes and threads. They come from the host, so that
// a simulation can hold all of them. Found in the syntax tree; names of properties and of types don't count.
import { isBuiltin } from "node:module";
import ts from "typescript";

export interface Finding {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** Modules of Node that only compute. Any other is the machine. */
const pureModules = new Set([
  "assert",
  "buffer",
  "crypto",
  "events",
  "path",
  "path/posix",
  "string_decoder",
  "url",
  "util",
  "zlib",
]);

/** node:crypto computes, apart from what draws from the machine's randomness. */
const random = /^(random|webcrypto|subtle|getRandomValues|generate|createDiffieHellman|createECDH|default)/;

/** node:os is a table of numbers under one name, and the machine under all others. */
const pureNames: ReadonlyMap<string, ReadonlySet<string>> = new Map([["os", new Set(["constants", "EOL"])]]);

/** Globals, and what to use in their place. */
const globals: ReadonlyMap<string, string> = new Map([
  ["process", "the host"],
  ["performance", "host.clock"],
  ["setTimeout", "host.clock"],
  ["setInterval", "host.clock"],
  ["setImmediate", "host.clock"],
  ["crypto", "host.random"],
  ["fetch", "a driver"],
  ["WebSocket", "a driver"],
  ["EventSource", "a driver"],
  ["Worker", "host.workers"],
  ["BroadcastChannel", "host.workers"],
  ["MessageChannel", "host.workers"],
  ["globalThis", "the name itself"],
  ["global", "the name itself"],
  ["require", "import"],
  ["eval", "plain code"],
]);

/** Members of globals that are fine otherwise, and what to use in their place. */
const members: ReadonlyMap<string, string> = new Map([
  ["Date.now", "host.clock"],
  ["Math.random", "host.random"],
  ["AbortSignal.timeout", "host.clock"],
  ["Atomics.wait", "host.workers"],
  ["Atomics.waitAsync", "host.workers"],
]);

/**
 * All places in one source file where the machine is touched.
 * @param allowed globals that this file may use
 */
export function findMachine(file: string, text: string, allowed: readonly string[] = []): Finding[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const isOwn = declarations(source);
  const findings: Finding[] = [];
  const report = (node: ts.Node, message: string): void => {
    const { line, character } = source.getLineAndCharacterOfPosition(node.getStart(source));
    findings.push({ line: line + 1, column: character + 1, message });
  };
  const visit = (node: ts.Node): void => {
    // A type is no access: `typeof setImmediate` in one is fine.
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) {
      if (ts.isExpressionWithTypeArguments(node)) visit(node.expression);
      return;
    }
    const fine = ts.isIdentifier(node) && (allowed.includes(node.text) || isOwn(node));
    const message = fine ? undefined : refusal(node);
    if (message !== undefined) report(node, message);
    else ts.forEachChild(node, visit);
  };
  visit(source);
  return findings;
}

/** Tells the file's own names from the globals: a parameter may be called `process`. */
function declarations(source: ts.SourceFile): (name: ts.Identifier) => boolean {
  const program = ts.createProgram(
    [source.fileName],
    { noLib: true, noResolve: true, types: [], allowJs: true },
    {
      getSourceFile: (name) => (name === source.fileName ? source : undefined),
      fileExists: (name) => name === source.fileName,
      readFile: () => undefined,
      writeFile: () => undefined,
      getDefaultLibFileName: () => "",
      getCurrentDirectory: () => "",
      getCanonicalFileName: (name) => name,
      useCaseSensitiveFileNames: () => true,
      getNewLine: () => "\n",
    },
  );
  const checker = program.getTypeChecker();
  return (name) => {
    const symbol = ts.isShorthandPropertyAssignment(name.parent)
      ? checker.getShorthandAssignmentValueSymbol(name.parent)
      : checker.getSymbolAtLocation(name);
    return (symbol?.declarations ?? []).some((each) => each.getSourceFile() === source);
  };
}

function refusal(node: ts.Node): string | undefined {
  if (ts.isImportDeclaration(node)) return ofImport(node);
  if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined && !node.isTypeOnly) {
    return ofModule(textOf(node.moduleSpecifier), []);
  }
  if (ts.isCallExpression(node)) return ofCall(node);
  if (ts.isNewExpression(node) && isGlobal(node.expression, "Date") && (node.arguments ?? []).length === 0) {
    return "`new Date()` reads the machine's clock; take the time from host.clock.";
  }
  if (ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node)) return ofMember(node);
  if (ts.isVariableDeclaration(node)) return ofTakingApart(node);
  if (ts.isIdentifier(node) && isReference(node)) {
    const instead = globals.get(node.text);
    if (instead !== undefined) return `\`${node.text}\` is the machine; use ${instead}.`;
  }
  return undefined;
}

function ofImport(node: ts.ImportDeclaration): string | undefined {
  if (node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword) return undefined;
  const bindings = node.importClause?.namedBindings;
  const whole = node.importClause?.name !== undefined || bindings === undefined || ts.isNamespaceImport(bindings);
  const names = whole
    ? ["default"]
    : bindings.elements.filter((each) => !each.isTypeOnly).map((each) => (each.propertyName ?? each.name).text);
  return ofModule(textOf(node.moduleSpecifier), names);
}

/** @param names what is taken from the module; "default" for all of it */
function ofModule(specifier: string, names: readonly string[]): string | undefined {
  if (!isBuiltin(specifier)) return undefined;
  const name = specifier.replace(/^node:/, "");
  const allowed = pureNames.get(name);
  if (allowed !== undefined) {
    const wrong = names.length === 0 ? "all of it" : names.find((each) => !allowed.has(each));
    return wrong === undefined ? undefined : `${wrong} of ${specifier} is the machine; only host may import it.`;
  }
  if (!pureModules.has(name))
    return `${specifier} is the machine; only host may import it. Use the host's files, clock, random or workers.`;
  if (name !== "crypto") return undefined;
  if (names.length === 0) return `Name what you take from ${specifier}: some of it is the machine's randomness.`;
  const drawn = names.find((each) => random.test(each));
  return drawn === undefined
    ? undefined
    : `${drawn} of ${specifier} draws from the machine's randomness; use host.random.`;
}

function ofCall(node: ts.CallExpression): string | undefined {
  if (isGlobal(node.expression, "Date")) return "`Date()` reads the machine's clock; take the time from host.clock.";
  if (node.expression.kind !== ts.SyntaxKind.ImportKeyword) return undefined;
  const [specifier] = node.arguments;
  if (specifier !== undefined && ts.isStringLiteralLike(specifier)) return ofModule(specifier.text, ["default"]);
  return "An import whose module is computed can be anything; write its name.";
}

function ofMember(node: ts.PropertyAccessExpression | ts.ElementAccessExpression): string | undefined {
  if (!ts.isIdentifier(node.expression)) return undefined;
  const member = ts.isPropertyAccessExpression(node) ? node.name.text : textOf(node.argumentExpression);
  return ofName(`${node.expression.text}.${member}`);
}

/** `const { now } = Date` */
function ofTakingApart(node: ts.VariableDeclaration): string | undefined {
  if (!ts.isObjectBindingPattern(node.name) || node.initializer === undefined || !ts.isIdentifier(node.initializer))
    return undefined;
  const of = node.initializer.text;
  return node.name.elements
    .map((each) => ofName(`${of}.${textOf(each.propertyName ?? each.name)}`))
    .find((each) => each !== undefined);
}

function ofName(name: string): string | undefined {
  const instead = members.get(name);
  return instead === undefined ? undefined : `\`${name}\` is the machine; use ${instead}.`;
}

function isGlobal(node: ts.Node, name: string): boolean {
  return ts.isIdentifier(node) && node.text === name;
}

function textOf(node: ts.Node): string {
  return ts.isStringLiteralLike(node) || ts.isIdentifier(node) ? node.text : "";
}

/** An identifier that is read as a variable: not the name of a member, a declaration, a label or an import. */
function isReference(node: ts.Identifier): boolean {
  const parent = node.parent;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isShorthandPropertyAssignment(parent)) return true;
  if (ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent) || ts.isImportClause(parent)) return false;
  if (ts.isBindingElement(parent)) return parent.initializer === node;
  if (ts.isLabeledStatement(parent) || ts.isBreakOrContinueStatement(parent)) return false;
  return (parent as Partial<ts.NamedDeclaration>).name !== node;
}
