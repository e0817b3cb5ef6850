import * as fc from 'fast-check';
import { LOCK_SCRIPTS } from '../../../support/script-model/lock-scripts.js';
import { RARE_CHOICES } from '../../../support/script-model/rare-choices.js';
import { ScriptServer } from '../../../support/script-model/script-server.js';
import { type Choice, choices } from '../../../support/script-model/script-steps.js';
import { ScriptTrial } from '../../../support/script-model/script-trial.js';

/** `HOLDFAST_TEST_SEED` repeats a run. fast-check prints the seed of one that fails. */
const SEED = process.env['HOLDFAST_TEST_SEED'];
const RUNS = 100;

/** Everything that may come of a script. */
const OUTCOMES = [
  'acquire: an error',
  'acquire: granted',
  'acquire: had it already',
  'acquire: refused',
  'acquire: those in line are dead',
  'acquire: those in line are first',
  'call up: alive',
  'call up: dead',
  'extend: 0',
  'extend: 1',
  'extend: an error',
  'hand off: a dead waiter is passed over',
  'hand off: a lapsed waiter is passed over',
  'hand off: to no waiter',
  'hand off: to the caller',
  'hand off: to the first',
  'hand on: free',
  'hand on: held',
  'inspect: free',
  'inspect: held',
  'leave free: no waiter',
  'leave free: not ours',
  'leave free: others wait',
  'leave: had it',
  'leave: was in line',
  'leave: was not there',
  'raise: beyond',
  'raise: not ours',
  'raise: one of two is beyond',
  'raise: one of two is not ours',
  'raise: ours',
  'raise: ours, its counter was lost',
  'release: an error',
  'release: held by another',
  'release: lost',
  'release: ours',
  'release: ours, its counter was lost',
  'renew: not ours',
  'renew: ours, no waiter',
  'renew: ours, others wait',
  'renew with tokens: beyond',
  'renew with tokens: not ours',
  'renew with tokens: ours, its counter was lost',
  'renew with tokens: ours, no waiter',
  'renew with tokens: ours, others wait',
  'wait: had it already',
  'wait: stands in line',
  'wait: stays in line',
  'wait: the holder is not told',
  'wait: the holder is told',
];

describe('The scripts of RedisLockStore, in any order', () => {
  let server: ScriptServer;

  beforeAll(async () => {
    server = await ScriptServer.start();
  });

  afterAll(() => server[Symbol.asyncDispose]());

  it.each(LOCK_SCRIPTS)(
    'do to locks, counters and queues what the rules say, %s',
    async (_, scripts) => {
      server.lockScripts = scripts;
      const seen = new Set<string>();
      const property = fc.asyncProperty(choices, (some) =>
        new ScriptTrial(server, (outcome) => seen.add(outcome)).run(some),
      );
      const examples = RARE_CHOICES.map((some): [Choice[]] => [some]);
      await fc.assert(property, { numRuns: RUNS, examples, ...(SEED && { seed: Number(SEED) }) });
      expect([...seen].toSorted()).toEqual(OUTCOMES.toSorted());
    },
  );
});
