import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import {
  FILES,
  LIB,
  codeOf,
  findCycle,
  importsOf,
  lastingFiles,
  sourceOf,
  targetsOf,
} from './support/library-sources.js';
import { RULES, layerOf } from './support/room-order.js';

const MOST_FILES = 12;
const MOST_LINES = 150;
/** Of the files below, too. */
const MOST_LINES_EVER = 200;
/** Files with more lines than one may have. The list may only shrink. */
const TOO_LONG: readonly string[] = [
  'core/acquire/acquisition.ts',
  'core/acquire/store-attempts.ts',
  'core/contract/lock-errors.ts',
  'core/contract/lock-store.ts',
  'core/lease/held-lease.ts',
  'core/lock.service.ts',
  'core/options/lock-options.ts',
  'core/options/option-rules.ts',
  'core/scope/lock.ts',
  'fencing/gate/fencing-gate.ts',
  'leader/leader-election.ts',
  'nest/calls/locked-call.ts',
  'stores/etcd/client/etcd-members.ts',
  'stores/etcd/etcd-lock.store.ts',
  'stores/etcd/queue/etcd-nodes.ts',
  'stores/etcd/queue/etcd-transactions.ts',
  'stores/etcd/queue/etcd-watches.ts',
  'stores/memory/memory-lock.store.ts',
  'stores/redis/lease/redis-lease.ts',
  'stores/redis/queue/wake-up-channel.ts',
  'stores/redis/redis-lock.store.ts',
  'stores/redlock/node/node-quarantine.ts',
  'stores/redlock/lease/redlock-lease.ts',
  'stores/redlock/vote/vote.ts',
  'stores/sql/sql-lock.store.ts',
  'stores/zookeeper/client/connection.ts',
  'stores/zookeeper/client/zookeeper-options.ts',
  'stores/zookeeper/nodes/lock-nodes.ts',
  'stores/zookeeper/session/session.ts',
  'testing/conformance/checks/sharing/sharing.ts',
];
/** Names that core may not mention: stores and transports. */
const FOREIGN = /redis|evalsha|zookeeper|etcd|http/i;
/** Tricks for speed, each with the benchmark that shows it, which a comment beside the trick names. */
const TRICKS: Readonly<Record<string, string>> = {
  'core/async/timer-queue.ts': 'renewal',
  'core/store/acquire-request.ts': 'paced',
  'core/lease/lease-bundles.ts': 'renewal',
  'core/options/option-layers.ts': 'own-code',
  'core/store/bounded-call.ts': 'builds',
  'stores/redis/lease/extend-many.ts': 'renewal',
  'stores/redis/lua/free-script.ts': 'uncontended',
  'stores/redis/lua/lock-script.ts': 'uncontended',
  'stores/redis/lua/pace.ts': 'waiting',
  'stores/redis/queue/local-handoffs.ts': 'contended',
  'stores/redis/send/batch-probe.ts': 'paced',
  'stores/redis/send/call-batcher.ts': 'uncontended',
  'stores/redis/send/write-batch.ts': 'uncontended',
};
/** Folders of tests that stand for no room: they test the whole, or several specs share them. */
const OF_THE_WHOLE =
  /^(compat|fuzz|model|options|packaging|readme|run|sample-app|secrets|simulation|soak|support)(\/|$)/;
const SHARED = /\/(support|workers|contexts)(\/|$)/;
/** A dot in the name of a spec is only for its kind, by which the runs are chosen. */
const KINDS = /^[\w-]+(\.(fault|variant|process|model))?\.spec\.ts$/;

/** Specs that wait by the clock, and for what. What can be observed is waited for with `until`. */
const WAITING = require('./waits-by-the-clock.json') as Readonly<Record<string, string>>;
const WAITS =
  /new Promise(<\w+>)?\([^;]*\bsetTimeout\(|\{[^}]*\bsetTimeout\b[^}]*\} from 'node:timers/;

const CLOCKS =
  /\bDate\.now\b|\bnew Date\(\)|\bsetTimeout\s*\(|\bsetInterval\s*\(|\bAbortSignal\.timeout\b/;
/** The clock that everything else goes by, the time of day at which a job is due, the deadline of a call of gRPC, and a process that loads nothing. */
const READ_CLOCKS = [
  'core/async/clock.ts',
  'ticks/ticks.ts',
  'stores/etcd/client/open-client.ts',
  'cli/supervisor.ts',
];
const ANY = /:\s*any\b|\bas any\b|<any\b/;

describe.each(FILES)('lib/%s', (file) => {
  const code = codeOf(file);
  const layer = layerOf(file);

  it('imports only what its layer may import', () => {
    const rule = RULES[layer];
    if (!rule) throw new Error(`lib/${file} belongs to no layer`);
    for (const { specifier, target } of importsOf(file)) {
      if (target === undefined) expect(specifier).toMatch(rule.packages);
      else expect([layer, ...rule.layers]).toContain(layerOf(target));
    }
  });

  it('imports files by the names that Node will find', () => {
    const targets = importsOf(file).flatMap(({ target }) => target ?? []);
    expect(FILES).toEqual(expect.arrayContaining(targets));
  });

  it('loads ioredis, if at all, only when it is used', () => {
    const statics = importsOf(file).filter(({ kind }) => kind === 'value');
    expect(statics.map(({ specifier }) => specifier)).not.toContain('ioredis');
  });

  if (!READ_CLOCKS.includes(file) && !/^(testing|dashboard\/page)$/.test(layer)) {
    it('leaves time to the clock', () => expect(code).not.toMatch(CLOCKS));
  }
  if (layer === 'core') {
    it('has no any', () => expect(code).not.toMatch(ANY));
    it('knows no store and no transport', () => expect(code).not.toMatch(FOREIGN));
  }

  it('has at most 150 lines', () => {
    const lines = sourceOf(file).trimEnd().split('\n').length;
    if (TOO_LONG.includes(file)) {
      expect(lines).toBeGreaterThan(MOST_LINES);
      expect(lines).toBeLessThanOrEqual(MOST_LINES_EVER);
    } else expect(lines).toBeLessThanOrEqual(MOST_LINES);
  });
});

it('no two files import each other, directly or through others', () => {
  const graph = new Map(FILES.map((file) => [file, targetsOf(file)]));
  expect(findCycle(graph)).toBeUndefined();
});

it.each(Object.entries(TRICKS))('the trick of lib/%s is shown by bench/%s.mjs', (file, name) => {
  expect(sourceOf(file)).toContain(`\`bench/${name}.mjs\``);
});

it('the models of the scripts run with the fast path and without it', () => {
  const folder = join(LIB, '..', 'test', 'stores', 'redis', 'lua');
  const models = readdirSync(folder).filter((file) => file.endsWith('.model.spec.ts'));
  expect(models.length).toBeGreaterThan(0);
  for (const model of models)
    expect(readFileSync(join(folder, model), 'utf8')).toContain('it.each(LOCK_SCRIPTS)');
});

it('docs/architecture.md shows a call in at most 20 files, which are there', () => {
  const page = readFileSync(join(LIB, '..', 'docs', 'architecture.md'), 'utf8');
  const [, table = ''] = page.split('| File, in order');
  const rows = table.slice(0, table.indexOf('\n\n')).matchAll(/^\| `([\w./-]+\.ts)`/gm);
  const files = [...rows].map(([, file]) => file);
  expect(files.length).toBeGreaterThan(0);
  expect(files.length).toBeLessThanOrEqual(20);
  expect(FILES).toEqual(expect.arrayContaining(files));
});

describe('the drawing of the rooms in docs/architecture.md', () => {
  const page = readFileSync(join(LIB, '..', 'docs', 'architecture.md'), 'utf8');
  const drawing = page.slice(page.indexOf('flowchart TD'), page.indexOf('| Folder of `core` |'));
  const named = [...drawing.matchAll(/(\w+)\["([^"<]+)/g)].map(([, id, name]) => [id!, name!]);
  const names = new Map(named as [string, string][]);
  const arrows = drawing.split('\n').flatMap((line) => {
    const [from = [], to = []] = line
      .replaceAll(/\["[^"]*"\]/g, '')
      .split('-->')
      .map((side) => side.split('&').map((id) => names.get(id.trim()) ?? id.trim()));
    return from.flatMap((room) => to.map((other): [string, string] => [room, other]));
  });
  const roomOf = (layer: string) =>
    layer.endsWith('.ts') && !layer.includes('/') ? 'index.ts, core.ts' : layer.replace(/^(dashboard)\/.*/, '$1'); // prettier-ignore

  function isDrawn(from: string, to: string): boolean {
    return arrows.some(([room, other]) => room === from && (other === to || isDrawn(other, to)));
  }

  /** A store of its own is one folder and one line, and no arrow. */
  const isLeftOut = (room: string) =>
    room.startsWith('stores/') && ![...names.values()].includes(room);

  it('has every room, but for stores that are not drawn', () => {
    const rooms = new Set(Object.keys(RULES).map(roomOf));
    const drawn = [...rooms].filter((room) => !isLeftOut(room));
    expect([...names.values()].toSorted()).toEqual(drawn.toSorted());
  });

  it('has a way for every import from one room to another', () => {
    const imports = FILES.flatMap((file) =>
      targetsOf(file).map((target) => [roomOf(layerOf(file)), roomOf(layerOf(target))] as const),
    );
    const shown = imports.filter((rooms) => !rooms.some(isLeftOut));
    const missing = shown.filter(([from, to]) => from !== to && !isDrawn(from, to));
    expect([...new Set(missing.map((each) => each.join(' --> ')))]).toEqual([]);
  });

  it('has a row for every folder of core', () => {
    const table = page.slice(page.indexOf('| Folder of `core` |'), page.indexOf('Every store has'));
    const rows = [...table.matchAll(/^\| `([a-z]+)` /gm)].map(([, folder]) => folder!);
    const folders = new Set(FILES.flatMap((file) => /^core\/(\w+)\//.exec(file)?.[1] ?? []));
    expect(rows.toSorted()).toEqual([...folders].toSorted());
  });
});

it('benchmarks that comments name are there', () => {
  const named = FILES.flatMap((file) => [...sourceOf(file).matchAll(/bench\/[\w-]+\.mjs/g)]);
  expect(named.length).toBeGreaterThanOrEqual(Object.keys(TRICKS).length);
  for (const [path] of named) expect(existsSync(join(LIB, '..', path))).toBe(true);
});

const folders = [...new Set(FILES.map((file) => dirname(file)))];

describe('the folders of lib', () => {
  it.each(folders)('%s has at most 12 files', (folder) => {
    const count = FILES.filter((file) => dirname(file) === folder).length;
    expect(count).toBeLessThanOrEqual(MOST_FILES);
  });

  it('import each other in one direction', () => {
    const graph = new Map<string, string[]>();
    for (const file of FILES) {
      const targets = targetsOf(file).map(folderOf);
      const others = targets.filter((target) => target !== folderOf(file));
      graph.set(folderOf(file), [...(graph.get(folderOf(file)) ?? []), ...others]);
    }
    expect(findCycle(graph)).toBeUndefined();
  });
});

describe('the folders of test', () => {
  const TEST = join(LIB, '..', 'test');
  const files = lastingFiles(TEST);
  const specs = files.filter((file) => file.endsWith('.spec.ts'));
  const rooms = readdirSync(LIB).filter((name) => !name.includes('.'));

  it.each(rooms)('have one for lib/%s', (room) => {
    expect(existsSync(join(TEST, room))).toBe(true);
  });

  it('have at most 12 files', () => {
    const counts = new Map<string, number>();
    for (const file of files) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
    const full = [...counts].filter(([, count]) => count > MOST_FILES);
    expect(full.map(([folder]) => folder)).toEqual([]);
  });

  it('stand for those of lib, or are a part of one', () => {
    const named = [...new Set(specs.map((spec) => dirname(spec)))].filter(
      (folder) => !OF_THE_WHOLE.test(folder) && !SHARED.test(folder),
    );
    const isRoom = (folder: string) => existsSync(join(LIB, folder));
    expect(named.filter((folder) => !isRoom(folder) && !isRoom(dirname(folder)))).toEqual([]);
  });

  it.each(specs)('%s tells its kind by its name, and has no number', (spec) => {
    expect(basename(spec)).toMatch(KINDS);
    expect(readFileSync(join(TEST, spec), 'utf8')).not.toMatch(/['`]trap-\d/);
  });

  it.each(specs)('%s waits by the clock only if waits-by-the-clock.json says for what', (spec) => {
    const code = readFileSync(join(TEST, spec), 'utf8');
    expect(WAITS.test(code)).toBe(Object.hasOwn(WAITING, spec));
  });
});

/** An entry stands for itself: it opens the rooms around it. */
function folderOf(file: string): string {
  return basename(file) === 'index.ts' || !file.includes('/') ? file : dirname(file);
}
