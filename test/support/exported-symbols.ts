import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const ROOT = join(__dirname, '..', '..');

interface Exported {
  readonly checker: ts.TypeChecker;
  /** The exports of each entry of the package, such as `./core`, types included. */
  readonly entries: ReadonlyMap<string, ReadonlyMap<string, ts.Symbol>>;
}

/** Everything that the public entries export, by the type checker. */
export function exportedSymbols(): Exported {
  const options = compilerOptions();
  const files = entryFiles(options);
  const program = ts.createProgram([...files.values()], options);
  const checker = program.getTypeChecker();
  const entries = [...files].map(([entry, file]): [string, Map<string, ts.Symbol>] => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(file)!)!;
    const symbols = checker.getExportsOfModule(module);
    return [entry, new Map(symbols.map((symbol) => [symbol.name, resolved(checker, symbol)]))];
  });
  return { checker, entries: new Map(entries) };
}

function resolved(checker: ts.TypeChecker, symbol: ts.Symbol): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

/** The sources of what `package.json` exports. */
function entryFiles(options: ts.CompilerOptions): Map<string, string> {
  const { name, exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    name: string;
    exports: Record<string, string | object>;
  };
  const entries = Object.keys(exports).filter((entry) => typeof exports[entry] === 'object');
  const files = entries.map((entry): [string, string] => {
    const { resolvedModule } = ts.resolveModuleName(join(name, entry), __filename, options, ts.sys);
    return [entry, resolvedModule!.resolvedFileName];
  });
  return new Map(files);
}

function compilerOptions(): ts.CompilerOptions {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (path) =>
    ts.sys.readFile(path),
  );
  const project = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  return { ...project.options, noEmit: true, types: ['node'] };
}
