import { dirname, relative } from 'node:path';

/** The layers and packages that the files of a layer may import. */
interface Rule {
  readonly layers: readonly string[];
  readonly packages: RegExp;
}

const STORES = ['stores/memory', 'stores/redis'];
const NODE = /^node:/;
const entries = require('../../lib/entries.json') as Record<
  string,
  { file: string; client?: string }
>;
/** A store imports core, and its client where its line of `lib/entries.json` names one. */
const OTHER_STORES = Object.values(entries)
  .filter(({ file }) => file.startsWith('stores/'))
  .map(({ file, client }): [string, Rule] => [
    dirname(file),
    {
      layers: ['core', 'stores/kit'],
      packages: client ? new RegExp(`^(node:.*|${client})$`) : NODE,
    },
  ]);
/** The order of the rooms: each may import those that it names, types included. */
export const RULES: Readonly<Record<string, Rule>> = {
  core: { layers: [], packages: NODE },
  'stores/kit': { layers: ['core'], packages: NODE },
  'stores/memory': { layers: ['core', 'stores/kit'], packages: NODE },
  'redis-client': { layers: ['core'], packages: NODE },
  'stores/redis': {
    layers: ['core', 'redis-client', 'stores/kit'],
    packages: /^(node:.*|ioredis)$/,
  },
  ...Object.fromEntries(OTHER_STORES),
  http: { layers: ['core'], packages: NODE },
  leader: { layers: ['core'], packages: NODE },
  ticks: { layers: ['core'], packages: NODE },
  nest: {
    layers: [
      'core',
      'http',
      'leader',
      'ticks',
      'logs',
      'fencing',
      'migrate',
      'redis-client',
      ...STORES,
      'stores/redlock',
    ],
    packages: /^(node:.*|@nestjs\/.*|rxjs(\/.*)?|reflect-metadata|acorn|ioredis)$/,
  },
  migrate: { layers: ['core', 'stores/kit', 'redis-client', 'stores/redis'], packages: NODE },
  metrics: { layers: ['core'], packages: NODE },
  otel: { layers: ['core', 'metrics'], packages: /^@opentelemetry\/api$/ },
  prometheus: { layers: ['core', 'metrics'], packages: /^prom-client$/ },
  express: { layers: ['core', 'http'], packages: NODE },
  'dashboard/api.ts': { layers: [], packages: /^$/ },
  'dashboard/page': { layers: ['dashboard/api.ts'], packages: /^(preact(\/.*)?|uplot)$/ },
  dashboard: {
    layers: ['core', 'http', 'dashboard/api.ts'],
    packages: /^(node:.*|@nestjs\/common)$/,
  },
  cli: {
    layers: [
      'core',
      'redis-client',
      'stores/redis',
      ...OTHER_STORES.map(([layer]) => layer),
      'fencing',
      'migrate',
      'dashboard',
    ],
    packages: /^(node:.*|commander|ioredis|pg|mysql2\/promise)$/,
  },
  fencing: { layers: ['core', 'http', 'redis-client'], packages: NODE },
  logs: { layers: ['core'], packages: NODE },
  terminus: { layers: ['core'], packages: /^@nestjs\/(common|terminus)$/ },
  testing: { layers: ['core', 'stores/memory'], packages: NODE },
  'core.ts': { layers: ['without-nest.ts'], packages: /^$/ },
  'without-nest.ts': {
    layers: ['core', 'leader', 'logs', 'ticks', 'redis-client', ...STORES],
    packages: NODE,
  },
  'index.ts': {
    layers: ['without-nest.ts', 'core', 'http', ...STORES, 'nest'],
    packages: /^$/,
  },
};

/** `core`, `stores/redis`, …; the entries of the package are layers of their own. */
export function layerOf(file: string): string {
  return Object.keys(RULES).find((layer) => !relative(layer, file).startsWith('..')) ?? file;
}
