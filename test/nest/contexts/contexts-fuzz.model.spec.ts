import * as fc from 'fast-check';
import { requests } from './programs.js';
import { Run } from './run.js';

/** `HOLDFAST_TEST_SEED` repeats a run. */
const SEED = Number(process.env['HOLDFAST_TEST_SEED'] ?? Date.now() % 2 ** 31);
/** `HOLDFAST_TEST_SECONDS` makes as many as there is time for. */
const SECONDS = Number(process.env['HOLDFAST_TEST_SECONDS'] ?? 0);
const RUNS = 200;
const LIMITS =
  SECONDS > 0 ? { numRuns: 1e9, interruptAfterTimeLimit: SECONDS * 1_000 } : { numRuns: RUNS };
/** Events that a run must have now and then: one with few events shows nothing. */
const EVENTS = ['entered', 'shared', 'LOCK_DEADLOCK', 'LOCK_TIMEOUT', 'LOCK_LOST'];

describe(`random programs of nested locks, listeners, queues, streams and jobs (seed ${SEED})`, () => {
  afterEach(() => jest.restoreAllMocks());

  it(
    'let no call in with another that has not asked for it',
    async () => {
      jest.spyOn(process, 'emitWarning').mockReturnValue();
      const totals: Record<string, number> = {};
      const add = (name: string, count: number) => (totals[name] = (totals[name] ?? 0) + count);
      const property = fc.asyncProperty(requests, async (programs) => {
        const run = new Run();
        await run.all(programs);
        expect(run.wrong).toEqual([]);
        add('runs', 1);
        add('entered', run.insiders.entered);
        add('shared', run.insiders.shared);
        for (const [code, count] of Object.entries(run.refused)) add(code, count);
      });
      await fc.assert(property, { seed: SEED, ...LIMITS });
      console.log(JSON.stringify({ seed: SEED, ...totals }));
      for (const each of EVENTS) expect(totals[each]).toBeGreaterThan(0);
    },
    SECONDS * 1_000 + 600_000,
  );
});
