import type { EvictRequest } from 'nest-holdfast/core';
import { EtcdLockStore } from 'nest-holdfast/etcd';
import { EtcdServer } from '../../../support/servers/etcd-server.js';
import { until } from '../../../support/until.js';
import {
  itAsksHoldersElsewhere,
  itTellsItsOwnHolder,
  useEvictions,
} from '../../support/evictions.js';

describe('On etcd, an eviction', () => {
  const setup = useEvictions({
    start: () => EtcdServer.start(),
    open: ({ url }) => new EtcdLockStore({ hosts: url }),
  });

  it('takes the key from the named holder, which is told, and hands it to the next waiter', async () => {
    const { holder, operator, key } = setup;
    const lock = await holder.acquire(key);
    const waiting = operator.acquire(key, { waitTimeout: 60_000 });
    await until(async () => (await operator.inspect(key))?.waiterCount === 1);
    const { fencingToken } = lock;
    const eviction = await operator.evict(key, { fencingToken, grace: 0 });
    expect(eviction.outcome).toBe('taken');
    expect(eviction.holder).toMatch(/^.+:\d+:\d+$/);
    const next = await waiting;
    expect(eviction.tokenAfter! > fencingToken && next.fencingToken > eviction.tokenAfter!).toBe(true); // prettier-ignore
    await until(() => lock.signal.aborted);
    expect(lock.signal.reason).toMatchObject({ code: 'LOCK_LOST' });
    expect(await lock.release()).toBe(false);
    await next.extend(30_000);
    expect(await next.release()).toBe(true);
    expect(await operator.inspect(key)).toBeUndefined();
  });

  it('by what inspect said means the holder of that moment, and no later one', async () => {
    const { holder, operator, key } = setup;
    const lock = await holder.acquire(key);
    const waiting = holder.acquire(key, { waitTimeout: 60_000 }); // stands in the queue before the look
    const seen = (await operator.inspect(key))!;
    await lock.release();
    const next = await waiting;
    for (const fencingToken of [lock.fencingToken, seen.fencingToken!]) {
      const eviction = await operator.evict(key, { fencingToken, grace: 0 });
      expect(eviction).toMatchObject({ evicted: false, outcome: 'not-held' });
    }
    const { fencingToken } = (await operator.inspect(key))!;
    expect(await operator.evict(key, { fencingToken: fencingToken!, grace: 0 })).toMatchObject({ outcome: 'taken' }); // prettier-ignore
    expect(await next.release()).toBe(false);
  });

  itTellsItsOwnHolder(setup);
  itAsksHoldersElsewhere(setup);

  it('of a holder of its own store leaves it nothing to release or extend', async () => {
    const { store, holder, key } = setup;
    const request = { key, keys: [key], token: 'own', ttl: 30_000 };
    const lease = (await store.tryAcquire(request))!;
    const taken = await store.evict({ ...request, token: 'evict', ttl: 5_000, fencingToken: lease.fencingToken! }); // prettier-ignore
    expect(taken.state).toBe('taken');
    expect([await lease.extend(30_000), await lease.release()]).toEqual([false, false]);
    expect(await holder.tryAcquire(key)).toBeUndefined();
    expect(await taken.taken!.release()).toBe(true);
  });

  it('whose process dies in the middle frees the key by its own ttl', async () => {
    const { store, holder, operator, key } = setup;
    const { fencingToken } = await holder.acquire(key);
    const request: EvictRequest = { key, keys: [key], token: 'dies', ttl: 1_000, fencingToken };
    expect((await store.evict(request)).state).toBe('taken');
    const next = await operator.acquire(key, { waitTimeout: 60_000 });
    await next.release();
  });

  it('by a token whose revision was compacted away is not made, but by the one that the answer names', async () => {
    const { server, holder, operator, key } = setup;
    const lock = await holder.acquire(key);
    const { fencingToken } = lock;
    const later = await operator.acquire(`${key}:other`);
    await server.ask('/v3/kv/compaction', { revision: String(later.fencingToken) });
    await later.release();
    const eviction = await operator.evict(key, { fencingToken, grace: 0 });
    expect(eviction).toMatchObject({ evicted: false, outcome: 'unconfirmed' });
    await lock.extend(30_000);
    const again = await operator.evict(key, { fencingToken: eviction.tokenBefore!, grace: 0 });
    expect(again.outcome).toBe('taken');
  });
});
