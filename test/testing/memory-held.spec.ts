import { LockService } from 'nest-holdfast/core';
import { FakeClock, MemoryLockStore } from 'nest-holdfast/testing';

it('MemoryLockStore tells which keys are held, in the order in which they were taken', async () => {
  const clock = new FakeClock();
  const store = new MemoryLockStore(clock);
  const locks = new LockService(store, { clock, autoExtend: false });
  expect(store.held()).toEqual([]);
  const both = await locks.acquire(['c', 'b']);
  await locks.acquire('a', { ttl: 1_000 });
  expect(store.held()).toEqual(['b', 'c', 'a']);
  await both.release();
  expect(store.held()).toEqual(['a']);
  clock.jump(1_000); // timers run late
  expect(store.held()).toEqual([]);
});
