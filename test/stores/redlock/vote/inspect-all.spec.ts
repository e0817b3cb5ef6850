import type { LockInspection, LockStore } from 'nest-holdfast/core';
import { FakeClock } from 'nest-holdfast/testing';
import { countNodes, inspectAll } from '../../../../lib/stores/redlock/vote/inspect-all';
import type { QuorumError } from '../../../../lib/stores/redlock/vote/quorum';
import { watch } from '../../../core/support/outcome';
import { quorumOf } from '../support/quorum-of';

const KEY = 'a';
type Seen = Partial<LockInspection> | undefined | Error | 'silent' | 'cannot';

/** Nodes, each of which sees this. */
function nodesThatSee(...seen: Seen[]) {
  const clock = new FakeClock(50_000);
  const inspect = (each: Seen) => {
    if (each === 'silent') return new Promise(() => {});
    if (each instanceof Error) return Promise.reject(each);
    return Promise.resolve(each && { key: KEY, ...(each as Partial<LockInspection>) });
  };
  const stores = seen.map((each) => ({
    name: 'own',
    supports: { fencing: true, ttl: true },
    ...(each !== 'cannot' && { inspect: () => inspect(each) }),
  }));
  const quorum = quorumOf(stores as unknown as LockStore[], clock);
  return { clock, quorum, inspected: () => inspectAll(quorum, KEY) };
}

describe('What a majority sees of a key', () => {
  it('is its holder, and nothing more where the nodes tell no more', async () => {
    const { inspected } = nodesThatSee({ holder: 'h' }, undefined, { holder: 'h' });
    expect(await inspected()).toEqual({
      key: KEY,
      holder: 'h',
      remaining: Infinity,
      heldFor: undefined,
      fencingToken: undefined,
    });
  });

  it('is the least time of the majority with the most, the largest token and the shortest hold', async () => {
    const { inspected } = nodesThatSee(
      { holder: 'h', remaining: 500, fencingToken: 7n, heldFor: 90 },
      { holder: 'other', remaining: 9_000, fencingToken: 99n, heldFor: 1 },
      { holder: 'h', remaining: 100, fencingToken: 9n, heldFor: 80 },
      { holder: 'h', remaining: 900, heldFor: 70 },
      { holder: 'h', remaining: 700 },
    );
    expect(await inspected()).toEqual({
      key: KEY,
      holder: 'h',
      remaining: 500,
      heldFor: 70,
      fencingToken: 9n,
    });
  });

  it('is the longest queue of all', async () => {
    const waiters = (...names: string[]) => ({ waiters: names, waiterCount: names.length });
    const { inspected } = nodesThatSee(
      { holder: 'h', waiters: ['x'] },
      { holder: 'h', ...waiters('a', 'b') },
      { holder: 'h', ...waiters('c') },
      { holder: 'h', waiterCount: 9 },
    );
    expect(await inspected()).toMatchObject({ waiters: ['a', 'b'], waiterCount: 2 });
  });

  it('is nothing where no holder has a majority', async () => {
    const { inspected } = nodesThatSee({ holder: 'h' }, { holder: 'i' }, undefined);
    expect(await inspected()).toBeUndefined();
  });

  it('takes half a second, and fails with what each node said', async () => {
    const seen: Seen[] = [{ holder: 'h' }, 'silent', new Error('down'), { key: 5 } as never];
    const { inspected, clock } = nodesThatSee(...seen);
    const outcome = watch(inspected());
    await clock.advance(499);
    expect(outcome.status).toBe('pending');
    await clock.advance(1);
    const { report } = outcome.error as QuorumError;
    expect(report.ended).toBe('1 of 4 nodes answered, 3 were needed');
    const said = report.nodes.map((each) => each.said);
    expect(said.slice(0, 3)).toEqual(['answered', 'timeout', 'error down']);
    expect(said[3]).toMatch(/^error .*an object with a key/);
  });
});

describe('The nodes of a Redlock that are up', () => {
  it('have answered, and have a vote', async () => {
    const { quorum, clock } = nodesThatSee(
      undefined,
      'cannot',
      'silent',
      new Error('x'),
      undefined,
    );
    quorum.nodes[4]!.record = { isKnown: true, bar: 'quarantined' };
    const counted = countNodes(quorum);
    await clock.advance(500);
    expect(await counted).toEqual({ up: 2, needed: 3, total: 5 });
  });

  it('are not those that are away', async () => {
    const { quorum } = nodesThatSee(undefined, undefined, undefined);
    for (let miss = 0; miss < 3; miss++) quorum.nodes[1]!.missed(true);
    expect(await countNodes(quorum)).toEqual({ up: 2, needed: 2, total: 3 });
  });
});
