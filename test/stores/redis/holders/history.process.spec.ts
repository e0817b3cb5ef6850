import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { WORK_MS } from '../../../support/histories/duration.js';
import { HistoryRun } from '../../../support/histories/history-run.js';
import { type ProcessHistory, violations } from '../../../support/histories/history.js';
import { all, unanswered } from '../../../support/histories/history-entries.js';
import { seeded } from '../../../support/histories/history-random.js';
import { WakeUpWatch, wokenTogether } from '../../../support/histories/history-wake-ups.js';

const PROCESSES = 4;
const CALLERS = 8;
/** `HOLDFAST_TEST_SEED` repeats the choices of a run, though not its interleaving. */
const SEED = Number(process.env['HOLDFAST_TEST_SEED'] ?? Date.now() % 2 ** 32);
/** Why a caller may get no lock. */
const FAIR_REFUSALS =
  /^held$|^AbortError|^LockStoreError.*(its answer took|no answer within|ended before it could)/;

describe(`${PROCESSES} processes with ${CALLERS} callers each, killed and paused (seed ${SEED})`, () => {
  let server: RedisServer;
  let directory: string;
  let watch: WakeUpWatch;
  let run: HistoryRun;

  beforeAll(async () => {
    server = await RedisServer.start();
    directory = await mkdtemp(join(tmpdir(), 'holdfast-history-'));
    watch = await WakeUpWatch.start(server.url);
    run = new HistoryRun({ kind: 'redis', address: server.url }, directory, CALLERS, seeded(SEED));
    await run.start(PROCESSES);
  });

  afterAll(async () => {
    await run[Symbol.asyncDispose]();
    await watch[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
    await server.stop();
  });

  it(
    'hold a lock one at a time, in order, with growing tokens, and wake no waiter in vain',
    async () => {
      await run.disturb(WORK_MS);
      await run.finish();
      const histories = await run.histories();
      console.log(figures(histories, run, watch));

      expect(violations(histories)).toEqual([]);
      expect(wokenTogether(watch.all, run.killed)).toEqual([]);
      const refused = all(histories, 'refused').map(({ why }) => why);
      expect(refused.filter((why) => !FAIR_REFUSALS.test(why))).toEqual([]);
      for (const history of histories) expect(unanswered(history)).toEqual([]);
      expect(all(histories, 'granted').length).toBeGreaterThan(0);
    },
    WORK_MS + 60_000,
  );
});

function figures(
  histories: readonly ProcessHistory[],
  run: HistoryRun,
  watch: WakeUpWatch,
): string {
  const granted = all(histories, 'granted');
  const from = (origin: string): number => granted.filter((grant) => grant.from === origin).length;
  const kinds = ['asked', 'cancelled', 'refused', 'extended', 'lost', 'contended'] as const;
  return JSON.stringify({
    seed: SEED,
    kills: run.kills,
    pauses: run.pauses,
    granted: granted.length,
    byAttempt: from('attempt'),
    fromTheLine: from('line'),
    handedOff: from('holder before'),
    ...Object.fromEntries(kinds.map((kind) => [kind, all(histories, kind).length])),
    wakeUps: watch.all.length,
  });
}
