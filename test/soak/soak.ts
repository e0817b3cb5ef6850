// `npm run soak -- --hours 1 --seed 1 --stores redis,etcd --rate 4 --out soak.json`: every store under work and faults.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { seeded } from '../support/histories/history-random.js';
import { inLanes } from '../support/lanes.js';
import { asText, isSound, judge } from './soak-report.js';
import { SOAK_SERVERS } from './soak-servers.js';
import { SoakStore } from './soak-store.js';

type Kind = keyof typeof SOAK_SERVERS;

const { values } = parseArgs({
  options: {
    hours: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 32) },
    stores: { type: 'string', default: Object.keys(SOAK_SERVERS).join(',') },
    /** Locks a second that each process takes, about. */
    rate: { type: 'string', default: '4' },
    /** Of each store; that of memory has one. */
    processes: { type: 'string', default: '3' },
    out: { type: 'string', default: '' },
  },
});
const milliseconds = Number(values.hours) * 3_600_000;
const seed = Number(values.seed);
const kinds = values.stores.split(',') as Kind[];
/** Stores that start at once. */
const LANES = 4;
/** Milliseconds of a round, and between two faults, at most: a short run has several of both. */
const ROUND = 45_000;
const FAULTS = 15_000;
const pace = (kind: Kind) => ({
  round: Math.min(ROUND, milliseconds / 3),
  faults: Math.min(FAULTS, milliseconds / 20),
  processes: kind === 'memory' ? 1 : Number(values.processes),
});

async function main(): Promise<void> {
  const unknown = kinds.filter((kind) => !(kind in SOAK_SERVERS));
  if (!(milliseconds > 0) || !Number.isInteger(seed) || !(Number(values.rate) > 0) || unknown.length > 0)
    throw new Error(`--hours and --rate are positive, --seed is a whole number, --stores are some of ${Object.keys(SOAK_SERVERS).join(',')}`); // prettier-ignore
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-soak-'));
  const stores: SoakStore[] = [];
  try {
    const start = async (kind: Kind) => void stores.push(await started(kind, directory));
    await Promise.all(inLanes(kinds, LANES, start).values());
    const end = performance.now() + milliseconds;
    console.log(`seed ${seed}, ${values.hours} h, ${kinds.join(', ')}`);
    const ticker = new AbortController();
    const told = tellEachMinute(stores, ticker.signal);
    await Promise.all(stores.map((store) => rounds(store, end)));
    ticker.abort();
    await told;
    process.exitCode = (await tell(stores)) ? 0 : 1;
  } finally {
    await Promise.all(stores.map((store) => store[Symbol.asyncDispose]()));
    await rm(directory, { recursive: true, force: true });
  }
}

async function started(kind: Kind, parent: string): Promise<SoakStore> {
  const directory = await mkdtemp(join(parent, `${kind}-`));
  const servers = await SOAK_SERVERS[kind](directory);
  const target = { kind, address: servers.address, directory, rate: Number(values.rate) };
  const store = new SoakStore(servers, target, seeded(seed + kinds.indexOf(kind)), pace(kind));
  await store.start();
  return store;
}

async function rounds(store: SoakStore, end: number): Promise<void> {
  try {
    while (performance.now() < end) await store.round();
  } catch (error) {
    store.report.violations.push(`the round did not come to its end: ${String(error)}`);
  }
}

async function tellEachMinute(stores: readonly SoakStore[], signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(60_000, undefined, { signal }).catch(() => {});
    if (!signal.aborted) await tell(stores);
  }
}

/** Whether all is well so far. */
async function tell(stores: readonly SoakStore[]): Promise<boolean> {
  const reports = stores.map(({ report }) => report);
  reports.forEach(judge);
  console.log(`\n${asText(reports)}`);
  for (const { store, violations, leftovers, leaks } of reports)
    for (const each of [...violations, ...leftovers, ...leaks].slice(0, 20))
      console.log(`${store}: ${each}`);
  const { hours, rate } = values;
  const whole = { seed, hours: Number(hours), rate: Number(rate), stores: reports };
  if (values.out) await writeFile(values.out, `${JSON.stringify(whole, undefined, 2)}\n`);
  return reports.every(isSound);
}

void main();
