import type { LockOverdueEvent } from 'nest-holdfast/core';
import { inMemory, onFakeStore } from '../support/setup';

function overdueOf({ locks }: Pick<ReturnType<typeof inMemory>, 'locks'>): LockOverdueEvent[] {
  const seen: LockOverdueEvent[] = [];
  locks.events.on('overdue', (event) => seen.push(event));
  return seen;
}

describe('overdueAfter', () => {
  it('tells once of a lock that is held for longer, and leaves it', async () => {
    const around = inMemory();
    const { locks, clock } = around;
    const overdue = overdueOf(around);
    const lock = await locks.acquire('a', { name: 'a', overdueAfter: 60_000 });
    await clock.advance(59_999);
    expect(overdue).toEqual([]);
    expect(locks.held()).toMatchObject([{ overdue: false }]);
    await clock.advance(1);
    expect(overdue).toMatchObject([
      { key: 'a', name: 'a', isLost: false, heldFor: 60_000, overdueAfter: 60_000 },
    ]);
    expect(locks.held()).toMatchObject([{ key: 'a', overdue: true, state: 'held' }]);
    await clock.advance(600_000);
    expect(lock.isHeld).toBe(true);
    expect(overdue).toHaveLength(1);
    expect(await lock.release()).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  it('may be a default of the service', async () => {
    const around = inMemory({ overdueAfter: 1_000 });
    const overdue = overdueOf(around);
    await around.locks.acquire('a');
    await around.locks.acquire('b', { overdueAfter: Infinity });
    await around.clock.advance(1_000);
    expect(overdue.map(({ key }) => key)).toEqual(['a']);
  });

  it('tells nothing of a lock that was released or lost before', async () => {
    const around = onFakeStore({ ttl: 3_000, overdueAfter: 10_000 });
    const { locks, lease, clock } = around;
    const overdue = overdueOf(around);
    await (await locks.acquire('a')).release();
    await locks.acquire('b');
    lease.onExtend = () => Promise.resolve(false);
    await clock.advance(20_000);
    expect(overdue).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('counts from the hand-off for a lock that was handed off', async () => {
    const around = inMemory({ overdueAfter: 1_000 });
    const { locks, clock } = around;
    const overdue = overdueOf(around);
    const first = await locks.acquire('a');
    const second = locks.acquire('a');
    await clock.advance(900);
    await first.release();
    await second;
    await clock.advance(999);
    expect(overdue).toEqual([]);
    await clock.advance(1);
    expect(overdue).toHaveLength(1);
  });

  it.each([0, 1.5, '1'])('cannot be %p', async (overdueAfter) => {
    const { locks } = inMemory();
    await expect(locks.acquire('a', { overdueAfter: overdueAfter as number })).rejects.toThrow(
      'overdueAfter must be a whole number of ms from 1 to 2147483647, or Infinity',
    );
  });
});
