import type { Lease } from 'nest-holdfast';
import { timeOfDay } from '../../../../lib/core/async/clock';
import { DisabledLockStore } from '../../../../lib/nest/module/disabled-lock.store';

/** Microseconds: longer than this takes. */
const MINUTE = 60_000_000n;

describe('The store that locks nothing', () => {
  it('grants every key, with tokens that grow from the time of day on', async () => {
    const store = new DisabledLockStore();
    const now = BigInt(Math.floor(timeOfDay())) * 1_000n;
    const leases = await Promise.all([store.tryAcquire(), store.tryAcquire(), store.tryAcquire()]);
    const tokens = leases.map(({ fencingToken }) => fencingToken!);
    expect(tokens[0]! >= now && tokens[0]! < now + MINUTE).toBe(true);
    expect(tokens.map((token, index) => token > (tokens[index - 1] ?? 0n))).toEqual([true, true, true]); // prettier-ignore
    const [lease] = leases as [Lease, ...Lease[]];
    expect(await Promise.all([lease.extend(5), lease.release(), lease.downgrade!()])).toEqual([true, true, true]); // prettier-ignore
  });

  it('mints no token twice, however many there are in one moment', async () => {
    jest.useFakeTimers();
    const store = new DisabledLockStore();
    const leases = [store.tryAcquire(), store.tryAcquire(), store.tryAcquire()];
    jest.useRealTimers();
    const tokens = (await Promise.all(leases)).map(({ fencingToken }) => fencingToken!);
    expect(tokens.map((token) => token - tokens[0]!)).toEqual([0n, 1n, 2n]);
  });

  it('has no holders', async () => {
    const store = new DisabledLockStore();
    expect([await store.inspect(), await store.list()]).toEqual([undefined, { locks: [] }]);
  });

  it('supports everything that needs no exclusion', () => {
    expect(new DisabledLockStore().supports).toEqual({
      fencing: true,
      ttl: false,
      manyKeys: true,
      readLocks: true,
      semaphores: true,
      exclusive: false,
    });
  });
});
