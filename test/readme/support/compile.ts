import { dirname, join } from 'node:path';
import ts from 'typescript';
import { ROOT } from './markdown.js';
import type { CodeBlock } from './markdown.js';
import { type StockProject, asWrittenIn } from './stock-projects.js';

/** The name that the running text of every page uses. */
const AMBIENT = "declare const locks: import('nest-holdfast').LockService;";
const AMBIENT_FILE = join(ROOT, 'docs', 'ambient.d.ts');

/** Languages that are not compiled. */
const OTHER_LANGUAGES = ['', 'text', 'sh', 'sql', 'json', 'yaml', 'prisma', 'mermaid'];

/** A block as a file that is only in memory, in the folder of its page, so that its imports resolve as a reader's do. */
interface BlockFile {
  readonly name: string;
  readonly text: string;
  readonly block: CodeBlock;
  /** Lines that stand before the block: those of the blocks that it continues. */
  readonly linesBefore: number;
}

/**
 * Type-checks every `ts` block of some pages, and resolves with what is wrong: `docs/x.md:12 (Heading): Cannot find name 'y'`.
 *
 * A block is a module of its own, where `await` is allowed and `locks` is a `LockService`. Words that may stand behind `ts`:
 *
 * - `continued`: the block goes on from the one above it in the same page
 * - `file=name.ts`: other blocks of the page import it as `./name.js`
 * - `partial`: it is not compiled, because something is left out on purpose
 *
 * In a stock project they are compiled as its reader writes them down there.
 */
export function problemsOf(blocks: readonly CodeBlock[], stock?: StockProject): string[] {
  const files = new Map(blockFiles(blocks, stock).map((file) => [file.name, file]));
  const given = optionsOf(stock);
  const program = ts.createProgram(
    [AMBIENT_FILE, ...files.keys()],
    given,
    hostWith(files, given, stock ? parsed.stock : parsed.own),
  );
  const wrongTypes = [...files.values()].flatMap((file) => {
    const source = program.getSourceFile(file.name);
    const found = [
      ...program.getSyntacticDiagnostics(source),
      ...program.getSemanticDiagnostics(source),
      ...(stock ? program.getDeclarationDiagnostics(source) : []),
    ];
    return found.flatMap(({ messageText, start = 0 }) => {
      const { line } = source!.getLineAndCharacterOfPosition(start);
      if (line < file.linesBefore) return []; // reported where it stands
      const text = ts.flattenDiagnosticMessageText(messageText, '\n');
      return at(file.block, file.block.line + line - file.linesBefore, text);
    });
  });
  return [...blocks.flatMap(wrongMarks), ...wrongTypes];
}

function at({ page, heading }: CodeBlock, line: number, text: string): string {
  return `${page}:${line} (${heading}): ${text}`;
}

function wrongMarks(block: CodeBlock): string[] {
  const { language, marks, line } = block;
  if (OTHER_LANGUAGES.includes(language)) return [];
  if (language !== 'ts')
    return [at(block, line - 1, `write \`${language}\` as \`ts\`, or as text`)];
  const unknown = marks.filter((mark) => !/^(partial|continued|file=[\w.-]+\.ts)$/.test(mark));
  return unknown.map((mark) => at(block, line - 1, `nobody knows the mark "${mark}"`));
}

function blockFiles(blocks: readonly CodeBlock[], stock?: StockProject): BlockFile[] {
  const files: BlockFile[] = [];
  for (const block of blocks) {
    const { page, line, language, marks, code } = block;
    if (language !== 'ts' || marks.includes('partial')) continue;
    const above = files.at(-1);
    const isContinued = marks.includes('continued') && above?.block.page === page;
    const before = isContinued ? above.text : '';
    const own = marks.find((mark) => mark.startsWith('file='))?.slice('file='.length);
    const name = own ? join(dirname(page), own) : `${page}.${line}.ts`;
    files.push({
      name: join(ROOT, name),
      text: before + code,
      block,
      linesBefore: before.split('\n').length - 1,
    });
  }
  if (!stock) return files;
  const extension = stock.modules === 'ES modules' ? '.mts' : '.ts';
  return files.map((file) => ({
    ...file,
    name: file.name.replace(/\.ts$/, extension),
    text: asWrittenIn(stock, file.text),
  }));
}

function optionsOf(stock?: StockProject): ts.CompilerOptions {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (path) =>
    ts.sys.readFile(path),
  );
  const project = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  const { paths, pathsBasePath } = project.options;
  if (stock) return { ...stock.options, paths, pathsBasePath, noEmit: true };
  const own = { module: ts.ModuleKind.ESNext, moduleDetection: ts.ModuleDetectionKind.Force };
  return { ...project.options, ...own, noEmit: true };
}

/** By kind of project, the files of the repository and its packages: they are the same for every program of it. */
const parsed = { own: new Map<string, ts.SourceFile>(), stock: new Map<string, ts.SourceFile>() };

function hostWith(
  files: ReadonlyMap<string, BlockFile>,
  options: ts.CompilerOptions,
  known: Map<string, ts.SourceFile>,
): ts.CompilerHost {
  const host = ts.createCompilerHost(options);
  const textOf = (name: string) => (name === AMBIENT_FILE ? AMBIENT : files.get(name)?.text);
  return {
    ...host,
    fileExists: (name) => textOf(name) !== undefined || host.fileExists(name),
    readFile: (name) => textOf(name) ?? host.readFile(name),
    getSourceFile: (name, version, ...rest) => {
      const text = textOf(name);
      if (text !== undefined) return ts.createSourceFile(name, text, version, true);
      const file = known.get(name) ?? host.getSourceFile(name, version, ...rest);
      if (file) known.set(name, file);
      return file;
    },
  };
}
