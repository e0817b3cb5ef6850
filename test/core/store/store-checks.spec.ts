import type { Lease, LockStore } from 'nest-holdfast/core';
import { checkSharing, checkStore, needsQueue } from '../../../lib/core/store/store-checks.js';
import { connectionFailureOf } from '../../../lib/core/store/store-failure.js';
import { combine } from '../../../lib/core/store/combined-lease.js';
import { waitFor } from '../../../lib/core/store/many-keys.js';

const having = (supports: object, others: object = {}) =>
  ({ name: 'own', supports: { fencing: true, ttl: true, ...supports }, ...others }) as LockStore;

describe('checkStore', () => {
  it('takes what has tryAcquire and supports', () => {
    expect(() => checkStore({ tryAcquire: () => undefined, supports: {} })).not.toThrow();
  });

  it.each([[{ tryAcquire: () => undefined }], [{ supports: {} }], [undefined]])(
    'refuses %p',
    (store) => {
      expect(() => checkStore(store)).toThrow(/LockService expects a store, got /);
    },
  );
});

describe('needsQueue', () => {
  it.each([
    [{}, true],
    [{ exclusive: false }, false],
    [{ queuesAllCallers: true }, false],
  ])('of a store with %p is %p', (supports, expected) => {
    expect(needsQueue(having(supports))).toBe(expected);
  });
});

describe('checkSharing', () => {
  it.each([
    [{ readLocks: true }, Infinity],
    [{ semaphores: true }, 3],
  ])('lets a store with %p share by %d', (supports, permits) => {
    expect(() => checkSharing(having(supports), ['a'], permits)).not.toThrow();
  });

  it.each([
    [{ semaphores: true }, Infinity, 'read locks'],
    [{ readLocks: true }, 3, 'semaphores'],
  ])('refuses a store with %p that is to share by %d', (supports, permits, what) => {
    const store = having({ ...supports, sharingUnsupported: 'use another' });
    const message = `Lock store "own" has no ${what} (key "a"): use another`;
    expect(() => checkSharing(store, ['a'], permits)).toThrow(message);
  });
});

describe('connectionFailureOf', () => {
  it.each([
    ['says none', {}, undefined],
    ['says why', { connectionFailure: () => 'refused' }, 'refused'],
    [
      'throws',
      {
        connectionFailure: () => {
          throw new Error('other');
        },
      },
      undefined,
    ],
  ])('of a store that %s', (_, others, expected) => {
    expect(connectionFailureOf(having({}, others))).toBe(expected);
  });
});

describe('waitFor', () => {
  const acquire = () => new Promise(() => undefined);
  const way = (supports: object, keys: string[], permits?: number) =>
    waitFor(having(supports, { acquire }), { keys, permits });

  it.each([
    ['queues', {}, ['a'], undefined],
    ['queues', {}, ['a'], Infinity],
    ['polls', {}, ['a'], 3],
    ['queues', { semaphores: true }, ['a'], 3],
    ['polls', {}, ['a', 'b'], undefined],
    ['queues', { queuesAllCallers: true }, ['a', 'b'], undefined],
    ['queues key by key', { queuesManyKeys: true }, ['a', 'b'], undefined],
  ])('%s on a store with %p for %p by %p', (expected, supports, keys, permits) => {
    expect(way(supports, keys, permits)).toBe(expected);
  });

  it('polls where the store has no queue', () => {
    expect(waitFor(having({}), { keys: ['a'], permits: undefined })).toBe('polls');
  });
});

describe('combine', () => {
  const plain: Lease = {
    fencingToken: 1n,
    extend: () => Promise.resolve(true),
    release: () => Promise.resolve(true),
  };
  const able = (answer: boolean): Lease => ({
    ...plain,
    retire: () => Promise.resolve(answer),
    downgrade: () => Promise.resolve(answer),
  });

  it('gives the lease what every part has', () => {
    expect(combine([able(true), able(true)], 1n)).toHaveProperty('downgrade');
    expect(combine([able(true), able(true)], 1n)).toHaveProperty('retire');
    expect(combine([able(true), plain], 1n)).not.toHaveProperty('downgrade');
    expect(combine([able(true), plain], 1n)).not.toHaveProperty('retire');
  });

  it.each([true, false])(
    'retires and downgrades all, and says %p where one says so',
    async (answer) => {
      const lease = combine([able(true), able(answer)], 1n);
      expect(await lease.retire!(10)).toBe(answer);
      expect(await lease.downgrade!()).toBe(answer);
    },
  );
});
