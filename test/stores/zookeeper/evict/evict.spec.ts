import { ZooKeeperLockStore } from 'nest-holdfast/zookeeper';
import { ZooKeeperServer } from '../../../support/servers/zookeeper-server.js';
import { until } from '../../../support/until.js';
import {
  itAsksHoldersElsewhere,
  itTellsItsOwnHolder,
  useEvictions,
} from '../../support/evictions.js';

describe('On ZooKeeper, an eviction', () => {
  const setup = useEvictions({
    start: () => ZooKeeperServer.shared(),
    open: ({ url }) => new ZooKeeperLockStore(url),
  });

  it('takes the key from the named holder, which is told, and hands it to the next waiter', async () => {
    const { holder, operator, key } = setup;
    const lock = await holder.acquire(key);
    const waiting = operator.acquire(key, { waitTimeout: 60_000 });
    await until(async () => (await operator.inspect(key))?.waiterCount === 1);
    const { fencingToken } = lock;
    const eviction = await operator.evict(key, { fencingToken, grace: 0 });
    expect(eviction).toMatchObject({ outcome: 'taken', tokenBefore: fencingToken });
    expect(eviction.holder).toMatch(/^.+:\d+:\d+$/);
    const next = await waiting;
    expect(eviction.tokenAfter! > fencingToken && next.fencingToken > eviction.tokenAfter!).toBe(true); // prettier-ignore
    await until(() => lock.signal.aborted);
    expect(lock.signal.reason).toMatchObject({ code: 'LOCK_LOST' });
    expect(await lock.release()).toBe(false);
    await next.extend(30_000);
    const waited = await operator.evict(key, { fencingToken: next.fencingToken, grace: 0 });
    expect(waited.outcome).toBe('taken');
    expect(await next.release()).toBe(false);
    expect(await operator.inspect(key)).toBeUndefined();
  });

  it('takes a key of several, by the token of all', async () => {
    const { holder, operator, key } = setup;
    const first = await holder.acquire(key);
    const waiting = holder.acquire([key, `${key}:b`], { waitTimeout: 60_000 });
    await first.release();
    const { fencingToken, signal } = await waiting;
    const eviction = await operator.evict(key, { fencingToken, grace: 0 });
    expect(eviction.outcome).toBe('taken');
    await until(() => signal.aborted);
    const next = await operator.acquire([key, `${key}:b`], { waitTimeout: 60_000 });
    expect(next.fencingToken > eviction.tokenAfter!).toBe(true);
    await next.release();
  });

  it('takes nothing from a later holder', async () => {
    const { holder, operator, key } = setup;
    const first = await holder.acquire(key);
    const waiting = holder.acquire(key, { waitTimeout: 60_000 });
    await first.release();
    const next = await waiting;
    for (const fencingToken of [first.fencingToken, next.fencingToken + 1n]) {
      const eviction = await operator.evict(key, { fencingToken, grace: 0 });
      expect(eviction).toMatchObject({ evicted: false, outcome: 'not-held' });
    }
    await next.extend(30_000);
    expect(await next.release()).toBe(true);
  });

  itTellsItsOwnHolder(setup);
  itAsksHoldersElsewhere(setup);
});
