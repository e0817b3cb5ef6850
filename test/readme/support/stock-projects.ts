import ts from 'typescript';

/** A project as `nest new` makes it: the compiler options of its tsconfig.json, and the kind of its modules. */
export interface StockProject {
  readonly name: string;
  readonly modules: 'CommonJS' | 'ES modules';
  readonly options: ts.CompilerOptions;
}

const COMMON: ts.CompilerOptions = {
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  resolvePackageJsonExports: true,
  esModuleInterop: true,
  isolatedModules: true,
  declaration: true,
  removeComments: true,
  emitDecoratorMetadata: true,
  experimentalDecorators: true,
  allowSyntheticDefaultImports: true,
  target: ts.ScriptTarget.ES2023,
  skipLibCheck: true,
  types: ['node', 'jest'],
};
const STRICT: ts.CompilerOptions = { ...COMMON, strict: true, strictPropertyInitialization: false };

export const STOCK_PROJECTS: readonly StockProject[] = [
  {
    name: 'Nest 11',
    modules: 'CommonJS',
    options: {
      ...COMMON,
      forceConsistentCasingInFileNames: true,
      strictNullChecks: true,
      noImplicitAny: false,
      strictBindCallApply: false,
      noFallthroughCasesInSwitch: false,
    },
  },
  { name: 'Nest 12, CommonJS', modules: 'CommonJS', options: STRICT },
  { name: 'Nest 12, ES modules', modules: 'ES modules', options: STRICT },
];

/**
 * The code of a page as its reader writes it down in such a project. In CommonJS, statements with an `await` are the body of a
 * function. In ES modules, relative imports have an extension. Lines stay where they are.
 */
export function asWrittenIn({ modules }: StockProject, code: string): string {
  if (modules === 'ES modules')
    return code.replaceAll(/from '(\.\/[\w.-]+?)(?:\.js)?';/g, "from '$1.mjs';");
  return awaitsAtTop(sourceOf(code)) ? inFunction(code) : code;
}

function inFunction(code: string): string {
  let body = code;
  const blank = (from: number, to: number) => {
    const gone = body.slice(from, to).replaceAll(/[^\n]/g, ' ');
    body = body.slice(0, from) + gone + body.slice(to);
  };
  const imports: string[] = [];
  for (const statement of sourceOf(code).statements) {
    if (ts.isImportDeclaration(statement)) {
      imports.push(statement.getText().replaceAll('\n', ' '));
      blank(statement.getStart(), statement.end);
    }
    const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
    for (const modifier of modifiers)
      if (modifier.kind === ts.SyntaxKind.ExportKeyword) blank(modifier.getStart(), modifier.end);
  }
  return `${imports.join(' ')} export async function example() {${body}\n}`;
}

/** An `await` that belongs to no function. */
function awaitsAtTop(node: ts.Node): boolean {
  if (ts.isFunctionLike(node)) return false;
  const isAwait =
    ts.isAwaitExpression(node) ||
    (ts.isForOfStatement(node) && node.awaitModifier !== undefined) ||
    (ts.isVariableDeclarationList(node) &&
      (node.flags & ts.NodeFlags.AwaitUsing) === ts.NodeFlags.AwaitUsing);
  return isAwait || (ts.forEachChild(node, (child) => awaitsAtTop(child) || undefined) ?? false);
}

function sourceOf(code: string): ts.SourceFile {
  return ts.createSourceFile('block.ts', code, ts.ScriptTarget.Latest, true);
}
