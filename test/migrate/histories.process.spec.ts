import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { all, longestWait } from '../support/histories/history-entries.js';
import { violations } from '../support/histories/history.js';
import { MigrationRun } from './support/migration-run.js';
import { DEATHS, Move } from './support/move.js';
import { MOVED_STORES, TTL } from './support/moved-stores.js';

const CALLERS = 4;
const LONGEST = 1_200_000;
/**
 * Milliseconds: a barrier lasts for the ttl, and on a busy machine ten times as long. The processes of a phase may die one after the
 * other with the same key, which is free again once the ttl is over, or the session has ended.
 */
const LONGEST_WAIT = 10 * TTL + DEATHS.length * 2 * TTL;
/**
 * Why a caller may get no lock: a process was killed or is slow, the old credential is deleted, or the target alone comes too early.
 */
const FAIR_REFUSALS =
  /^held$|^AbortError|WRONGPASS|not permitted to log in|terminating connection|^LockStoreError.*(phase 'to' grants nothing|its answer took|no answer within|ended before it could|session|max retries per request|no majority|Connection terminated)/;

type Name = keyof typeof MOVED_STORES;

const PAIRS: readonly [from: Name, to: Name][] = [
  ['Redis', 'Redis'],
  ['Redis', 'Redlock'],
  ['Redis', 'PostgreSQL'],
  ['Redis', 'etcd'],
  ['Redlock', 'Redis'],
  ['PostgreSQL', 'Redis'],
  ['etcd', 'Redis'],
];

describe('processes that move, and die at every step', () => {
  it.each(PAIRS)(
    'from %s to %s, and back, hold a lock one at a time, with growing tokens',
    async (...pair) => {
      const directory = await mkdtemp(join(tmpdir(), 'holdfast-move-'));
      try {
        await using from = await MOVED_STORES[pair[0]]();
        await using to = await MOVED_STORES[pair[1]]();
        await using run = new MigrationRun(directory, CALLERS);
        const move = new Move(from, to, run);
        const moved = await move.there();
        expect(await run.firstGrant(moved.to[0]!)).toBeGreaterThan(moved.barrier);
        await move.back(moved.to);
        const histories = await run.histories();
        const found = violations(histories);
        const waited = longestWait(histories);
        const counts = ['granted', 'refused', 'lost'] as const;
        const figures = Object.fromEntries(
          counts.map((kind) => [kind, all(histories, kind).length]),
        );
        console.log(
          JSON.stringify({
            move: pair.join(' to '),
            ...figures,
            longestWait: Math.round(waited),
            kills: histories.length,
            violations: found.length,
          }),
        );
        expect(found).toEqual([]);
        expect(waited).toBeLessThan(LONGEST_WAIT);
        const refused = all(histories, 'refused').map(({ why }) => why);
        expect(refused.filter((why) => !FAIR_REFUSALS.test(why))).toEqual([]);
      } finally {
        await rm(directory, { recursive: true, force: true });
      }
    },
    LONGEST,
  );
});
