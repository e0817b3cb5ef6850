import * as fc from 'fast-check';
import { LOCK_SCRIPTS } from '../../../support/script-model/lock-scripts.js';
import { ScriptServer } from '../../../support/script-model/script-server.js';
import { type Choice, RARE_CHOICES, choices } from '../../../support/script-model/sharing-steps.js';
import { SharingTrial } from '../../../support/script-model/sharing-trial.js';

/** `HOLDFAST_TEST_SEED` repeats a run. fast-check prints the seed of one that fails. */
const SEED = process.env['HOLDFAST_TEST_SEED'];
const RUNS = 60;

/** Everything that may come of a script. */
const OUTCOMES = [
  'admit: one',
  'admit: several',
  'call up: alive',
  'call up: dead',
  'downgrade: lost',
  'downgrade: ours',
  'extend: false',
  'extend: true',
  'hand on: free',
  'hand on: held',
  'hand off: to a sharer',
  'hand off: to a writer',
  'leave free: no waiter',
  'leave free: not ours',
  'leave free: others wait',
  'release: alone',
  'release: lost',
  'release: shared',
  'renew: not ours',
  'renew: ours',
  'share: granted',
  'share: had it',
  'share: other permits',
  'share: refused',
  'take: granted',
  'take: had it',
  'take: refused',
  'take: those in line are first',
  'wait: had it',
  'wait: is let in',
  'wait: other permits',
  'wait: stands in line',
];

describe('The scripts of RedisLockStore for those who share, in any order', () => {
  let server: ScriptServer;

  beforeAll(async () => {
    server = await ScriptServer.start();
  });

  afterAll(() => server[Symbol.asyncDispose]());

  it.each(LOCK_SCRIPTS)(
    'do to one lock, those who have it and those in line what the rules say, %s',
    async (_, scripts) => {
      server.lockScripts = scripts;
      const seen = new Set<string>();
      const property = fc.asyncProperty(choices, (some) =>
        new SharingTrial(server, (outcome) => seen.add(outcome)).run(some),
      );
      const examples = RARE_CHOICES.map((some): [Choice[]] => [some]);
      await fc.assert(property, { numRuns: RUNS, examples, ...(SEED && { seed: Number(SEED) }) });
      expect([...seen].toSorted()).toEqual(OUTCOMES.toSorted());
    },
  );
});
