import { LockService, MemoryLockStore } from 'nest-holdfast/core';
import type { LockServiceOptions, LockStore, LockStoreFeatures } from 'nest-holdfast/core';
import { FakeClock } from 'nest-holdfast/testing';
import { FakeStore, QueueStore, eventsOf } from './fake-store';

function serviceOn<Store extends LockStore>(store: Store, options: LockServiceOptions = {}) {
  const clock = new FakeClock(50_000);
  const locks = new LockService(store, { clock, ...options });
  return { clock, store, locks, events: eventsOf(locks) };
}

/** A service on a store that does what the test says. */
export function onFakeStore(options?: LockServiceOptions, supports?: LockStoreFeatures) {
  const around = serviceOn(new FakeStore(supports), options);
  return { ...around, lease: around.store.lease };
}

/** A service on a store with a queue of its own, in which the test hands out the leases. */
export function onQueueStore(options?: LockServiceOptions, supports?: LockStoreFeatures) {
  const around = serviceOn(new QueueStore(supports), options);
  return { ...around, lease: around.store.lease };
}

/** Two services on one store in memory: two processes. */
export function inMemory(options: LockServiceOptions = {}) {
  const clock = new FakeClock(50_000);
  const store = new MemoryLockStore(clock);
  const locks = new LockService(store, { clock, ...options });
  const others = new LockService(store, { clock, ...options });
  return { clock, store, locks, others, events: eventsOf(locks) };
}
