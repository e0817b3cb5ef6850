// `npm run mutation:lua -- --runs 100`: mutants of the Redis scripts, one at a time, against the properties that the model holds them to.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import * as fc from 'fast-check';
import { Redis } from 'ioredis';
import { RedisScript } from '../../../lib/redis-client/redis-script.js';
import * as lease from '../../../lib/stores/redis/lua/lease-scripts.js';
import * as queue from '../../../lib/stores/redis/lua/queue-scripts.js';
import * as shared from '../../../lib/stores/redis/lua/sharing-scripts.js';
import { LOCK_SCRIPTS } from '../../support/script-model/lock-scripts.js';
import { RARE_CHOICES } from '../../support/script-model/rare-choices.js';
import { ScriptServer } from '../../support/script-model/script-server.js';
import { choices } from '../../support/script-model/script-steps.js';
import { ScriptTrial } from '../../support/script-model/script-trial.js';
import {
  RARE_CHOICES as RARE_SHARING,
  choices as sharingChoices,
} from '../../support/script-model/sharing-steps.js';
import { SharingTrial } from '../../support/script-model/sharing-trial.js';
import { type Mutant, mutantsOf, withMutant } from './mutants.js';

type End = 'killed' | 'survived' | 'not run';

interface Judged extends Mutant {
  readonly end: End;
}

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '100' },
    /** Only lines with this text. */
    only: { type: 'string', default: '' },
    /** Leaves out as many of the first. */
    skip: { type: 'string', default: '0' },
    /** Judges only what has survived the last run. */
    again: { type: 'boolean', default: false },
  },
});
const RUNS = Number(values.runs);
/** Milliseconds after which a script is taken for one that never ends: such a mutant counts as killed. */
const LONGEST = 180_000;
const REPORT = 'reports/mutation/lua.json';
const note = () => {};

/** The model says what it expects by Jest's `expect`. */
Object.assign(globalThis, require('expect') as object);

let mutant: Mutant | undefined;
let isUsed = false;

/** Every script is sent in full, as the mutant has it. */
RedisScript.prototype.run = function run<T>(
  this: RedisScript,
  ...[client, keys, args, read]: Parameters<RedisScript['run']>
) {
  const source = mutant ? withMutant(this.source, mutant) : this.source;
  isUsed ||= source !== this.source;
  return client.eval(source, keys.length, ...keys, ...args).then(read) as Promise<T>;
};

/** Of the lock alone, with the fast path and without it, and of its sharers. */
async function holds(server: ScriptServer, runs: number): Promise<void> {
  for (const [, scripts] of LOCK_SCRIPTS) {
    server.lockScripts = scripts;
    const examples = RARE_CHOICES.map((some): [typeof some] => [some]);
    const lock = fc.asyncProperty(choices, (some) => new ScriptTrial(server, note).run(some));
    await fc.assert(lock, { numRuns: runs, examples, seed: 1, endOnFailure: true });
  }
  const examples = RARE_SHARING.map((some): [typeof some] => [some]);
  const sharing = fc.asyncProperty(sharingChoices, (some) => new SharingTrial(server, note).run(some)); // prettier-ignore
  await fc.assert(sharing, { numRuns: runs, examples, seed: 1, endOnFailure: true });
}

let server: ScriptServer;

async function judged(each: Mutant): Promise<End> {
  mutant = each;
  isUsed = false;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), LONGEST);
  });
  const end = await Promise.race([
    holds(server, RUNS).then(
      () => 'held',
      () => 'broken',
    ),
    late,
  ]);
  clearTimeout(timer);
  mutant = undefined;
  if (end === 'late') await startAnew();
  if (end !== 'held') return 'killed';
  return isUsed ? 'survived' : 'not run';
}

/** A script that never ends holds the server up: only SHUTDOWN reaches it. */
async function startAnew(): Promise<void> {
  const { port } = server.redis.options;
  const other = new Redis({ port: port!, retryStrategy: () => null });
  other.on('error', () => {});
  await other.call('SHUTDOWN', 'NOSAVE').catch(() => {});
  server = await ScriptServer.start();
}

function allMutants(): Mutant[] {
  const scripts = [...Object.values(LOCK_SCRIPTS[0]![1]), ...[lease, queue, shared].flatMap((each) => Object.values(each))]; // prettier-ignore
  const sources = scripts.flatMap((each) => (each instanceof RedisScript ? each.source : []));
  const all = sources.flatMap(mutantsOf);
  const names = new Map(all.map((each) => [nameOf(each), each]));
  return [...names.values()]
    .slice(Number(values.skip))
    .filter(({ line }) => line.includes(values.only));
}

function nameOf({ line, mutated }: Mutant): string {
  return `${line}\n${mutated}`;
}

function before(): Judged[] {
  return JSON.parse(readFileSync(REPORT, 'utf8')) as Judged[];
}

async function main(): Promise<void> {
  server = await ScriptServer.start();
  await holds(server, 5); // the scripts as they are
  const ends = values.again ? before().filter(({ end }) => end !== 'survived') : [];
  const known = new Set(ends.map(nameOf));
  const mutants = allMutants().filter((each) => !known.has(nameOf(each)));
  for (const each of mutants) {
    const end = await judged(each);
    ends.push({ ...each, end });
    if (end !== 'killed')
      console.log(`${end}:\n  - ${each.line.trim()}\n  + ${each.mutated.trim()}`);
    if (ends.length % 20 === 0) console.log(`${ends.length} judged`);
    mkdirSync('reports/mutation', { recursive: true });
    writeFileSync(REPORT, JSON.stringify(ends, undefined, 2));
  }
  const count = (end: End) => ends.filter((each) => each.end === end).length;
  const judgedCount = ends.length - count('not run');
  const score = ((100 * count('killed')) / judgedCount).toFixed(1);
  console.log(`${ends.length} mutants: ${count('killed')} killed, ${count('survived')} survived, ${count('not run')} in scripts that no property runs; ${score} %`); // prettier-ignore
  await server[Symbol.asyncDispose]();
}

void main();
