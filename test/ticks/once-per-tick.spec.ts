import { LockService, MemoryLockStore, oncePerTick } from 'nest-holdfast/core';
import { FakeClock } from 'nest-holdfast/testing';

describe('oncePerTick', () => {
  it.each([true, false])(
    'runs once for a tick, also inside of its own run, with reentrant: %s by default',
    async (reentrant) => {
      const clock = new FakeClock();
      const locks = new LockService(new MemoryLockStore(clock), { clock, reentrant });
      const options = { every: 60_000, now: () => 0 };
      const run = (work: () => unknown) => oncePerTick(locks, 'nightly', options, work);
      const inner = jest.fn();
      await run(() => run(inner));
      expect(inner).not.toHaveBeenCalled();
    },
  );
});
