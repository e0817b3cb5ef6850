import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';

/** What the files of a layer may import: other layers, and packages. */
interface Rule {
  readonly layers: readonly string[];
  readonly packages: RegExp;
}

const LIB = join(__dirname, '..', 'lib');
const STORES = ['stores/memory', 'stores/redis'];
const NODE = /^node:/;
const RULES: Readonly<Record<string, Rule>> = {
  core: { layers: [], packages: NODE },
  'stores/memory': { layers: ['core'], packages: NODE },
  'redis-client': { layers: ['core'], packages: NODE },
  'stores/redis': { layers: ['core', 'redis-client'], packages: /^(node:.*|ioredis)$/ },
  'stores/redlock': { layers: ['core'], packages: NODE },
  'stores/zookeeper': { layers: ['core'], packages: /^(node:.*|node-zookeeper-client)$/ },
  'stores/sql': { layers: ['core'], packages: NODE },
  'stores/etcd': { layers: ['core'], packages: /^(node:.*|etcd3)$/ },
  http: { layers: ['core'], packages: NODE },
  leader: { layers: ['core'], packages: NODE },
  ticks: { layers: ['core'], packages: NODE },
  nest: {
    layers: ['core', 'http', 'leader', 'ticks', 'fencing', ...STORES, 'stores/redlock'],
    packages: /^(node:.*|@nestjs\/.*|rxjs(\/.*)?|reflect-metadata|acorn|ioredis)$/,
  },
  express: { layers: ['core', 'http'], packages: NODE },
  fencing: { layers: ['core', 'redis-client'], packages: NODE },
  testing: { layers: ['core', 'stores/memory'], packages: NODE },
  'core.ts': { layers: ['core', 'leader', 'ticks', ...STORES], packages: NODE },
  'index.ts': { layers: ['core.ts', 'core', ...STORES, 'nest'], packages: /^$/ },
};

const CLOCKS =
  /\bDate\.now\b|\bnew Date\(\)|\bsetTimeout\s*\(|\bsetInterval\s*\(|\bAbortSignal\.timeout\b/;
/** The clock that everything else goes by, the time of day at which a job is due, and the deadline of a call of gRPC. */
const READ_CLOCKS = ['core/clock.ts', 'ticks/ticks.ts', 'stores/etcd/open-client.ts'];
const ANY = /:\s*any\b|\bas any\b|<any\b/;

const files = readdirSync(LIB, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .toSorted();

describe.each(files)('lib/%s', (file) => {
  const source = readFileSync(join(LIB, file), 'utf8');
  const code = withoutComments(source);
  const layer = layerOf(file);

  it('imports only what its layer may import', () => {
    const rule = RULES[layer];
    if (!rule) throw new Error(`lib/${file} belongs to no layer`);
    for (const { specifier, target } of importsOf(file, code)) {
      if (target === undefined) expect(specifier).toMatch(rule.packages);
      else expect([layer, ...rule.layers]).toContain(layerOf(target));
    }
  });

  it('imports files by the names that Node will find', () => {
    const targets = importsOf(file, code).flatMap(({ target }) => target ?? []);
    expect(files).toEqual(expect.arrayContaining(targets));
  });

  it('loads ioredis, if at all, only when it is used', () => {
    const statics = importsOf(file, code).filter(({ kind }) => kind === 'value');
    expect(statics.map(({ specifier }) => specifier)).not.toContain('ioredis');
  });

  it('has at most 200 lines', () => {
    expect(source.trimEnd().split('\n').length).toBeLessThanOrEqual(200);
  });

  if (!READ_CLOCKS.includes(file) && layer !== 'testing') {
    it('leaves time to the clock', () => expect(code).not.toMatch(CLOCKS));
  }
  if (layer === 'core') {
    it('has no any', () => expect(code).not.toMatch(ANY));
  }
});

it('no two files import each other, directly or through others', () => {
  const graph = new Map(files.map((file) => [file, targetsOf(file)]));
  expect(findCycle(graph)).toBeUndefined();
});

interface Import {
  readonly specifier: string;
  readonly kind: 'value' | 'type' | 'dynamic';
  /** The file under lib/, when the specifier is a relative one. */
  readonly target: string | undefined;
}

function importsOf(file: string, code: string): Import[] {
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

function targetOf(file: string, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined;
  return normalize(join(dirname(file), specifier)).replace(/\.js$/, '.ts');
}

function targetsOf(file: string): string[] {
  const code = withoutComments(readFileSync(join(LIB, file), 'utf8'));
  return importsOf(file, code).flatMap(({ target }) => target ?? []);
}

/** `core`, `stores/redis`, …; the entries of the package are layers of their own. */
function layerOf(file: string): string {
  return Object.keys(RULES).find((layer) => !relative(layer, file).startsWith('..')) ?? file;
}

/** Good enough for source that prettier has formatted; a `//` in a string must follow a colon, as in a URL. */
function withoutComments(source: string): string {
  return source.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(?<![:'"])\/\/.*$/gm, '');
}

function findCycle(graph: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return undefined;
    for (const next of graph.get(file) ?? []) {
      const cycle = visit(next, [...path, file]);
      if (cycle) return cycle;
    }
    done.add(file);
    return undefined;
  };
  for (const file of graph.keys()) {
    const cycle = visit(file, []);
    if (cycle) return cycle;
  }
  return undefined;
}
