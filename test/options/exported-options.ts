import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const ROOT = join(__dirname, '..', '..');
/** Names of options of which none may be missing. */
const OF_OPTIONS = /(Options|Auth|Acl)$/;

/** A value of a kind that an option may not be of. */
export interface WrongValue {
  readonly option: string;
  readonly kind: string;
  readonly value: unknown;
}

/** A type that an entry of the package exports, and one of whose properties may be missing. */
export interface ExportedBag {
  readonly name: string;
  readonly options: readonly string[];
  /** For each option, one value of every kind that its type does not admit. */
  readonly wrong: readonly WrongValue[];
}

/** What looks like options among all that the public entries export, by the type checker: a new one cannot be forgotten. */
export function exportedBags(): ExportedBag[] {
  const options = compilerOptions();
  const entries = entryFiles(options);
  const program = ts.createProgram(entries, options);
  const checker = program.getTypeChecker();
  const symbols = new Map<string, ts.Symbol>();
  for (const entry of entries) {
    const module = checker.getSymbolAtLocation(program.getSourceFile(entry)!)!;
    for (const symbol of checker.getExportsOfModule(module)) {
      symbols.set(symbol.name, resolved(checker, symbol));
    }
  }
  return [...symbols].flatMap(([name, symbol]) => bagOf(checker, name, symbol) ?? []);
}

function bagOf(checker: ts.TypeChecker, name: string, symbol: ts.Symbol): ExportedBag | undefined {
  if (!(symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias))) return undefined;
  const type = checker.getDeclaredTypeOfSymbol(symbol);
  if (!(type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection))) return undefined;
  const properties = checker.getPropertiesOfType(type);
  const isBag = properties.some(({ flags }) => flags & ts.SymbolFlags.Optional);
  if (type.getCallSignatures().length > 0 || !(isBag || OF_OPTIONS.test(name))) return undefined;
  const wrong = properties.flatMap((property) => wrongValues(checker, property));
  return { name, options: properties.map((each) => each.name), wrong };
}

function wrongValues(checker: ts.TypeChecker, property: ts.Symbol): WrongValue[] {
  const declared = checker.getTypeOfSymbol(property);
  const type = checker.getBaseConstraintOfType(declared) ?? declared;
  const kinds: readonly [kind: string, is: ts.Type, value: unknown][] = [
    ['a string', checker.getStringType(), '423'],
    ['a number', checker.getNumberType(), 423],
    ['true', checker.getTrueType(), true],
    ['null', checker.getNullType(), null],
    ['a symbol', checker.getESSymbolType(), Symbol('wrong')],
  ];
  return kinds
    .filter(([, is]) => !checker.isTypeAssignableTo(is, type))
    .map(([kind, , value]) => ({ option: property.name, kind, value }));
}

function resolved(checker: ts.TypeChecker, symbol: ts.Symbol): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

/** The sources of what `package.json` exports. */
function entryFiles(options: ts.CompilerOptions): string[] {
  const { name, exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    name: string;
    exports: Record<string, string | object>;
  };
  const entries = Object.keys(exports).filter((entry) => typeof exports[entry] === 'object');
  return entries.map((entry) => {
    const { resolvedModule } = ts.resolveModuleName(join(name, entry), __filename, options, ts.sys);
    return resolvedModule!.resolvedFileName;
  });
}

function compilerOptions(): ts.CompilerOptions {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (path) =>
    ts.sys.readFile(path),
  );
  const project = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  return { ...project.options, noEmit: true, types: ['node'] };
}
