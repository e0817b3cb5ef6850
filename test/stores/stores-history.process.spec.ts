import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EtcdServer } from '../support/servers/etcd-server.js';
import { inLanes } from '../support/lanes.js';
import { MariaDbServer } from '../support/servers/mariadb-server.js';
import { PostgresServer } from '../support/servers/postgres-server.js';
import { ZooKeeperServer } from '../support/servers/zookeeper-server.js';
import { all, unanswered } from '../support/histories/history-entries.js';
import { seeded } from '../support/histories/history-random.js';
import { HistoryRun } from '../support/histories/history-run.js';
import { type ProcessHistory, violations } from '../support/histories/history.js';
import { prepareStore } from '../support/histories/prepare-store.js';
import type { StoreAddress } from '../support/histories/workers/open-store.js';

const PROCESSES = 4;
const CALLERS = 8;
/** For each store. `HOLDFAST_TEST_SECONDS` makes it longer. */
const WORK_MS = Number(process.env['HOLDFAST_TEST_SECONDS'] ?? 5) * 1_000;
/** `HOLDFAST_TEST_SEED` repeats the choices of a run, though not its interleaving. */
const SEED = Number(process.env['HOLDFAST_TEST_SEED'] ?? Date.now() % 2 ** 32);
/**
 * Why a caller may get no lock: of a process that was paused, an answer may be late and a session over. One that is paused
 * as it writes keeps the file of SQLite locked.
 */
const FAIR_REFUSALS =
  /^held$|^AbortError|^LockStoreError.*(its answer took|no answer within|ended before it could|session|was deleted at ZooKeeper|database is locked)/;
/** Far fewer than there are: a run in which little happened shows nothing. */
const FEWEST_GRANTS = 4 * (WORK_MS / 1_000);
/** Stores that have their turn together: half of the time of a run goes by waiting for processes that start or are paused. */
const AT_ONCE = 2;
const LONGEST = 3 * WORK_MS + 120_000;

interface Server extends AsyncDisposable {
  readonly url: string;
}

type Case = readonly [StoreAddress['kind'], startServer: (directory: string) => Promise<Server>];

/** Redis and Redlock have histories of their own. */
const STORES: readonly Case[] = [
  ['zookeeper', () => ZooKeeperServer.start()],
  ['etcd', () => EtcdServer.start()],
  ['postgres', () => PostgresServer.start()],
  ['mariadb', () => MariaDbServer.start()],
  ['sqlite', async (directory) => fileIn(directory)],
];

describe(`${PROCESSES} processes with ${CALLERS} callers each, killed and paused (seed ${SEED}),`, () => {
  let runs: Map<Case, Promise<void>>;

  beforeAll(() => {
    runs = inLanes(STORES, AT_ONCE, runOn);
  });

  afterAll(() => Promise.allSettled(runs.values()), LONGEST);

  it.each(STORES.map((each) => [each[0], each] as const))(
    'on %s: hold a lock one at a time, in order, with growing tokens',
    async (_, each) => {
      await runs.get(each);
    },
    LONGEST,
  );
});

async function runOn([kind, startServer]: Case): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-store-history-'));
  try {
    await using server = await startServer(directory);
    const store = { kind, address: server.url };
    await prepareStore(store);
    await using processes = new HistoryRun(
      store,
      directory,
      CALLERS,
      seeded(SEED + STORES.findIndex(([name]) => name === kind)),
    );
    await processes.start(PROCESSES);
    await processes.disturb(WORK_MS);
    await processes.finish();
    check(kind, await processes.histories(), processes);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function check(kind: string, histories: readonly ProcessHistory[], run: HistoryRun): void {
  const found = violations(histories);
  console.log(figures(kind, histories, run, found.length));
  expect(found).toEqual([]);
  const refused = all(histories, 'refused').map(({ why }) => why);
  expect(refused.filter((why) => !FAIR_REFUSALS.test(why))).toEqual([]);
  for (const history of histories) expect(unanswered(history)).toEqual([]);
  expect(all(histories, 'granted').length).toBeGreaterThan(FEWEST_GRANTS);
}

function figures(
  store: string,
  histories: readonly ProcessHistory[],
  { kills, pauses }: HistoryRun,
  found: number,
): string {
  const kinds = ['asked', 'granted', 'cancelled', 'refused', 'lost'] as const;
  const counts = Object.fromEntries(kinds.map((kind) => [kind, all(histories, kind).length]));
  const header = { store, seed: SEED, seconds: WORK_MS / 1_000, kills, pauses };
  return JSON.stringify({ ...header, ...counts, violations: found });
}

function fileIn(directory: string): Server {
  return { url: join(directory, 'locks.sqlite'), [Symbol.asyncDispose]: async () => undefined };
}
