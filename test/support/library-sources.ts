import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';

export const LIB = join(__dirname, '..', '..', 'lib');

/** The sources of the library, by their paths below `lib`. */
export const FILES = readdirSync(LIB, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file))
  .toSorted();

export interface Import {
  readonly specifier: string;
  readonly kind: 'value' | 'type' | 'dynamic';
  /** The file under lib/, when the specifier is a relative one. */
  readonly target: string | undefined;
}

export function sourceOf(file: string): string {
  return readFileSync(join(LIB, file), 'utf8');
}

/** Good enough for source that prettier has formatted; a `//` in a string must follow a colon, as in a URL. */
export function codeOf(file: string): string {
  return sourceOf(file)
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/(?<![:'"])\/\/.*$/gm, '');
}

/** Imports of types count, too. */
export function importsOf(file: string): Import[] {
  const code = codeOf(file);
  const statics = code.matchAll(
    /\b(?:import|export)\s+(type\s)?(?:[^'"();]*?\sfrom\s+)?'([^']+)'/g,
  );
  const dynamics = code.matchAll(/\b(?:import|require)\(\s*'([^']+)'\s*\)/g);
  const found = [
    ...[...statics].map(([, type, specifier]) => ({
      specifier: specifier!,
      kind: type ? ('type' as const) : ('value' as const),
    })),
    ...[...dynamics].map(([, specifier]) => ({ specifier: specifier!, kind: 'dynamic' as const })),
  ];
  return found.map((each) => ({ ...each, target: targetOf(file, each.specifier) }));
}

export function targetsOf(file: string): string[] {
  return importsOf(file).flatMap(({ target }) => target ?? []);
}

function targetOf(file: string, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined;
  const target = normalize(join(dirname(file), specifier)).replace(/\.js$/, '.ts');
  return FILES.includes(target) ? target : (FILES.find((each) => each === `${target}x`) ?? target);
}

/** The nodes of a circle, the first one again at its end. */
export function findCycle(
  graph: ReadonlyMap<string, readonly string[]>,
): readonly string[] | undefined {
  const done = new Set<string>();
  const visit = (node: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node];
    if (done.has(node)) return undefined;
    for (const next of graph.get(node) ?? []) {
      const cycle = visit(next, [...path, node]);
      if (cycle) return cycle;
    }
    done.add(node);
    return undefined;
  };
  for (const node of graph.keys()) {
    const cycle = visit(node, []);
    if (cycle) return cycle;
  }
  return undefined;
}

/** Folders that specs make for a while, and remove: a walk that meets one may find it gone. */
const OTHERS = /^(node_modules|(blocks|docs)-.*)$/;

/** The files below `folder`, by their paths there, without what specs write meanwhile. */
export function lastingFiles(folder: string): string[] {
  const walk = (inner: string): string[] =>
    readdirSync(inner, { withFileTypes: true }).flatMap((entry) => {
      const path = join(inner, entry.name);
      if (!entry.isDirectory()) return [relative(folder, path)];
      return OTHERS.test(entry.name) ? [] : walk(path);
    });
  return walk(folder);
}
