import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WORK_MS } from '../../support/histories/duration.js';
import { all, unanswered } from '../../support/histories/history-entries.js';
import { seeded } from '../../support/histories/history-random.js';
import { HistoryRun } from '../../support/histories/history-run.js';
import { type ProcessHistory, violations } from '../../support/histories/history.js';
import { TroubledNodes } from '../../support/histories/redlock-history-nodes.js';

const PROCESSES = 4;
const CALLERS = 8;
/** `HOLDFAST_TEST_SEED` repeats the choices of a run, though not its interleaving. */
const SEED = Number(process.env['HOLDFAST_TEST_SEED'] ?? Date.now() % 2 ** 32);
/** Why a caller may get no lock: two nodes are in trouble at times, and then a third one is late, or a process is paused. */
const FAIR_REFUSALS =
  /^held$|^AbortError|^LockStoreError.*(its answer took|no answer within|ended before it could|no majority \(\d of 5 nodes )/;
/** Far fewer than there are: a run in which little happened shows nothing. */
const FEWEST_GRANTS = 5 * (WORK_MS / 1_000);

describe(`${PROCESSES} processes with ${CALLERS} callers each on 5 nodes, all in trouble (seed ${SEED})`, () => {
  let nodes: TroubledNodes;
  let directory: string;
  let run: HistoryRun;

  beforeAll(async () => {
    nodes = await TroubledNodes.start(seeded(SEED + 1));
    directory = await mkdtemp(join(tmpdir(), 'holdfast-redlock-history-'));
    run = new HistoryRun(
      { kind: 'redlock', address: nodes.urls.join() },
      directory,
      CALLERS,
      seeded(SEED),
    );
    await run.start(PROCESSES);
  });

  afterAll(async () => {
    await run[Symbol.asyncDispose]();
    await nodes[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });

  it(
    'hold a lock one at a time, in order, with growing tokens',
    async () => {
      await Promise.all([run.disturb(WORK_MS), nodes.disturb(WORK_MS)]);
      await run.finish();
      const histories = await run.histories();
      const found = violations(histories);
      console.log(figures(histories, run, nodes, found.length));

      expect(found).toEqual([]);
      const refused = all(histories, 'refused').map(({ why }) => why);
      expect(refused.filter((why) => !FAIR_REFUSALS.test(why))).toEqual([]);
      for (const history of histories) expect(unanswered(history)).toEqual([]);
      expect(all(histories, 'granted').length).toBeGreaterThan(FEWEST_GRANTS);
    },
    WORK_MS + 90_000,
  );
});

function figures(
  histories: readonly ProcessHistory[],
  { kills, pauses }: HistoryRun,
  nodes: TroubledNodes,
  found: number,
): string {
  const granted = all(histories, 'granted');
  const from = (origin: string): number => granted.filter((grant) => grant.from === origin).length;
  const refused = all(histories, 'refused').map(({ why }) => why.split(':')[0]!.split(' ')[0]!);
  const count = (why: string): number => refused.filter((each) => each === why).length;
  const kinds = ['asked', 'cancelled', 'extended', 'lost'] as const;
  return JSON.stringify({
    seed: SEED,
    seconds: WORK_MS / 1_000,
    processes: { kills, pauses },
    nodes: { restarts: nodes.restarts, pauses: nodes.pauses },
    granted: granted.length,
    byAttempt: from('attempt'),
    fromTheLine: from('line'),
    handedOff: from('holder before'),
    ...Object.fromEntries(kinds.map((kind) => [kind, all(histories, kind).length])),
    refused: Object.fromEntries([...new Set(refused)].map((why) => [why, count(why)])),
    violations: found,
  });
}
