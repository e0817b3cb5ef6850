import { FakeClock } from 'nest-holdfast/testing';
import { TimerQueue } from '../../../lib/core/async/timer-queue.js';
import { LeaseBundles } from '../../../lib/core/lease/lease-bundles.js';
import type { KeeperEntry } from '../../../lib/core/lease/lease-context.js';
import { FakeLease } from '../support/fake-store';
import { never } from '../support/outcome';
import { onFakeStore } from '../support/setup';

const TTL = 3_000;

/** Many locks that are taken at the same moment, and when each is extended. */
async function burst(count: number) {
  const around = onFakeStore({ ttl: TTL });
  const extendedAt: number[] = [];
  const leases: FakeLease[] = [];
  around.store.onAcquire = () => {
    const lease = new FakeLease();
    lease.onExtend = async () => {
      extendedAt.push(around.clock.now());
      return true;
    };
    leases.push(lease);
    return Promise.resolve(lease);
  };
  const from = around.clock.now();
  const keys = Array.from({ length: count }, (_, index) => `key:${index}`);
  const locks = await Promise.all(keys.map((key) => around.locks.acquire(key)));
  return { ...around, from, extendedAt, leases, held: locks };
}

describe('the extensions of many locks that were taken at once', () => {
  it('are spread, and none is later than a third of the ttl', async () => {
    const { clock, from, extendedAt } = await burst(1_000);
    await clock.advance(TTL / 3);
    expect(extendedAt.length).toBe(1_000);
    expect(Math.max(...extendedAt) - from).toBeLessThanOrEqual(TTL / 3);
    expect(Math.min(...extendedAt) - from).toBeGreaterThan(TTL / 5);
    expect(perMoment(extendedAt, 1)).toBeLessThan(350);
  });

  it('come in bundles', async () => {
    const { clock, extendedAt } = await burst(1_000);
    await clock.advance(TTL / 3);
    expect(new Set(extendedAt).size).toBeLessThan(20);
  });

  it('stay spread', async () => {
    const { clock, from, extendedAt } = await burst(2_000);
    await clock.advance(5 * TTL);
    const late = extendedAt.filter((time) => time - from > 4 * TTL);
    expect(perMoment(late, TTL / 100)).toBeLessThanOrEqual(400);
  });

  it('do not wait for one that hangs or fails', async () => {
    const { clock, leases, held } = await burst(500);
    leases[7]!.onExtend = never;
    leases[8]!.onExtend = () => Promise.reject(new Error('down'));
    await clock.advance(2 * TTL);
    expect(held.filter(({ isHeld }) => !isHeld)).toEqual([held[7], held[8]]);
  });
});

it('a few locks are extended at a third of their ttl exactly', async () => {
  const { clock, from, extendedAt } = await burst(10);
  await clock.advance(TTL / 3);
  expect(extendedAt).toEqual(Array.from({ length: 10 }, () => from + TTL / 3));
});

/** The largest number of times within `ms`. */
function perMoment(times: readonly number[], ms: number): number {
  const counts = new Map<number, number>();
  for (const time of times) {
    const moment = Math.floor(time / ms);
    counts.set(moment, (counts.get(moment) ?? 0) + 1);
  }
  return Math.max(...counts.values());
}

it('a bundle that its last lease has left takes in none: it would never fall due', async () => {
  const clock = new FakeClock(50_000);
  const woken: KeeperEntry[] = [];
  const bundles = new LeaseBundles<KeeperEntry>(
    new TimerQueue(clock),
    (entries) => void woken.push(...entries),
  );
  const [one, next] = [{} as KeeperEntry, {} as KeeperEntry];
  bundles.join(one, TTL, clock.now() + TTL / 3);
  bundles.leave(one);
  bundles.join(next, TTL, clock.now() + TTL / 3);
  await clock.advance(TTL / 3);
  expect(woken).toEqual([next]);
});
